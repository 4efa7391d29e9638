// All teams of the data root. Damaged teams come first.

import type { JSX } from "preact";
import type { RootTeam, RootTeams } from "../api/types.ts";
import { useQuery } from "../state/query.ts";
import { visit } from "../state/route.ts";
import { Command, commandOf } from "../ui/command.tsx";
import { Badge, countOf, Empty, Link, Panel, Pending } from "../ui/parts.tsx";
import { Table, type Column } from "../ui/table.tsx";
import { Text } from "../ui/text.tsx";
import { Time } from "../ui/time.tsx";
import type { PanelEntry } from "./index.ts";

const hrefOfTeam = (name: string): string => `#/t/${encodeURIComponent(name)}/crew`;

const Condition = ({ team }: { team: RootTeam }): JSX.Element => {
  if (team.condition === "sound") return <Badge tone="ok">sound</Badge>;
  if (team.condition === "starting") return <Badge tone="muted">starting</Badge>;
  return (
    <span class="stack">
      <Badge tone="error">{team.code ?? "unready"}</Badge>
      {team.why !== undefined && <span class="sub"><Text value={team.why} max={160} /></span>}
      {team.code === "damaged" && <Command command={commandOf("doctor", "check", team.team)} />}
    </span>
  );
};

const number = (value: number | undefined): string => (value === undefined ? "–" : value.toLocaleString("en"));

const COLUMNS: readonly Column<RootTeam>[] = [
  { key: "team", title: "Team", render: (team) => <Link to={hrefOfTeam(team.team)} class="ref">{team.team}</Link> },
  { key: "condition", title: "Condition", wide: true, render: (team) => <Condition team={team} /> },
  { key: "attention", title: "Attention", end: true, render: (team) => (team.attention === undefined ? "–" : team.attention === 0 ? <span class="sub">0</span> : <Badge tone="warn">{team.attention}</Badge>) },
  { key: "members", title: "Members", end: true, render: (team) => number(team.members) },
  { key: "going", title: "In progress", end: true, extra: true, render: (team) => number(team.tasks_by_status?.["in_progress"]) },
  { key: "waiting", title: "Blocked", end: true, extra: true, render: (team) => number(team.tasks_by_status?.["blocked"]) },
  { key: "done", title: "Completed", end: true, extra: true, render: (team) => number(team.tasks_by_status?.["completed"]) },
  { key: "events", title: "Events", end: true, render: (team) => number(team.events) },
  { key: "last", title: "Last event", end: true, render: (team) => <Time value={team.last_event_at} /> },
];

const AllTeams = (): JSX.Element => {
  const query = useQuery<RootTeams>("/v1/root/teams", {}, { every: 2000, always: true });
  const teams = query.data?.teams ?? [];
  const bad = teams.filter((team) => team.condition === "unready").length;
  return (
    <Panel title="All teams" command="teamlog teams" note={query.data === null ? undefined : <>{countOf(teams.length, "team")}{bad > 0 && <>, <strong class="bad">{bad} damaged</strong></>}</>}>
      <Pending query={query} />
      {query.data !== null && teams.length === 0 && <Empty title="No team yet" why="This data root holds no team." command="teamlog init TEAM --members lead,dev" />}
      {teams.length > 0 && <Table label="Teams" columns={COLUMNS} rows={teams} keyOf={(team) => team.team} rowClass={(team) => (team.condition === "unready" ? "bad-row" : undefined)} onOpen={(team) => visit(hrefOfTeam(team.team))} />}
    </Panel>
  );
};

export const panel: PanelEntry = { id: "teams", title: "All teams", root: true, component: AllTeams };
