// The agents and their work, in one row per agent.

import { useEffect } from "preact/hooks";
import type { JSX } from "preact";
import type { Attention, AttentionItem, Usage, Who, WhoAgent, WhoTask } from "../api/types.ts";
import { now, slowNow } from "../state/clock.ts";
import { useQuery } from "../state/query.ts";
import { at, go, route } from "../state/route.ts";
import { commandOf, readingOf } from "../ui/command.tsx";
import { Badge, countOf, Empty, Link, Panel, Pending, Ref, shortNumber, statusWord, type Tone } from "../ui/parts.tsx";
import { Table, type Column } from "../ui/table.tsx";
import { Text } from "../ui/text.tsx";
import { Countdown, countdownOf, spanOf, Time } from "../ui/time.tsx";
import type { PanelEntry } from "./index.ts";
import "../style/crew.css";

/** Time after its last event after which an agent without a lease counts as quiet. */
const QUIET_MS = 5 * 60_000;

interface Row extends WhoAgent {
  tokens: number | null;
  concerns: number;
  /** Number of items of attention that stay until somebody acts. */
  errors: number;
  /** Tasks of this agent whose lease expired and which no agent has claimed since. */
  lapsed: AttentionItem[];
  /** If the past is shown, the time with which the ends of leases are compared. */
  frozen: string | null;
}

const Lease = ({ task, frozen }: { task: WhoTask; frozen: string | null }): JSX.Element | null => {
  if (task.leased_until === undefined) return null;
  if (frozen === null) return <Countdown until={task.leased_until} />;
  const left = task.lease_left_ms ?? Date.parse(task.leased_until) - Date.parse(frozen);
  return left <= 0 ? <span class="countdown over">lease expired</span> : <span class="countdown">{countdownOf(left)}</span>;
};

const lapsed = (row: Row, time: number): boolean =>
  row.lapsed.length > 0 || row.working_on.some((task) => task.leased_until !== undefined && Date.parse(task.leased_until) <= time);

const Life = ({ row }: { row: Row }): JSX.Element => {
  // Update a row each second only if it shows a lease. Otherwise every row of a large team would be drawn each
  // second.
  const leased = row.working_on.some((task) => task.leased_until !== undefined);
  const time = row.frozen !== null ? Date.parse(row.frozen) : leased ? now.value : slowNow.value;
  if (lapsed(row, time)) return <Badge tone="error">lease expired</Badge>;
  const silent = row.last_event === null ? null : time - Date.parse(row.last_event.at);
  const [tone, word, title]: [Tone, string, string] =
    leased ? ["ok", "alive", "Holds a running lease"]
    : silent === null ? ["muted", "not seen", "Has recorded nothing yet"]
    : silent < QUIET_MS ? ["ok", "alive", "Recorded something within the last five minutes"]
    : ["muted", "quiet", `Recorded nothing for ${spanOf(silent)}`];
  return <Badge tone={tone} title={title}>{word}</Badge>;
};

const Works = ({ row }: { row: Row }): JSX.Element => {
  const more = row.working_on_total - row.working_on.length;
  const lost = row.lapsed.filter((item) => row.working_on.every((task) => task.task_id !== item.task_id));
  if (row.working_on.length === 0 && row.waiting_total === 0 && lost.length === 0) return <span class="sub">nothing</span>;
  return (
    <div class="works">
      {lost.map((item) => item.task_id !== undefined && (
        <div key={item.task_id} class="work line">
          <Ref noun="task" id={item.task_id} />
          <Text value={item.title ?? ""} max={140} />
          <span class="countdown over">lease expired</span>
        </div>
      ))}
      {row.working_on.map((task) => (
        <div key={task.task_id} class="work">
          <div class="line">
            <Ref noun="task" id={task.task_id} />
            <Text value={task.subject ?? ""} max={140} />
            {task.status !== "in_progress" && <span class="sub">{statusWord(task.status)}</span>}
            <Lease task={task} frozen={row.frozen} />
            {task.epoch !== undefined && task.epoch > 1 && <span class="sub" title="Number of claims so far">epoch {task.epoch}</span>}
          </div>
          {task.reported !== undefined && task.reported !== "" && <div class="reported"><Text value={task.reported} max={240} /></div>}
        </div>
      ))}
      {more > 0 && <Link to={{ panel: "board", query: { owner: row.agent, lanes: "off" } }} class="sub">{more} more</Link>}
      {row.waiting.slice(0, 3).map((task) => (
        <div key={task.task_id} class="line sub">
          <Ref noun="task" id={task.task_id} />
          <span>waits for</span>
          {(task.waits_for ?? []).slice(0, 4).map((one) => <span key={one.task_id}><Ref noun="task" id={one.task_id} /> {statusWord(one.status)}</span>)}
          {(task.waits_for ?? []).length === 0 && <Text value={task.reported ?? statusWord(task.status)} max={120} />}
        </div>
      ))}
      {row.waiting_total > 3 && <span class="sub">{row.waiting_total - Math.min(3, row.waiting.length)} more wait</span>}
    </div>
  );
};

const COLUMNS: readonly Column<Row>[] = [
  {
    key: "agent",
    title: "Agent",
    render: (row) => (
      <div class="stack">
        <Link to={{ panel: "inbox", rest: [row.agent] }} class="ref agent" title={`The inbox of ${row.agent}`}><Text value={row.agent} max={64} fixed /></Link>
        <span class="line"><Life row={row} />{row.state !== null && <span class="sub" title="Its reported state">{row.state}</span>}</span>
      </div>
    ),
  },
  { key: "task", title: "Works on", wide: true, render: (row) => <Works row={row} /> },
  { key: "attention", title: "Attention", end: true, render: (row) => (row.concerns === 0 ? <span class="sub">–</span> : <Link to={{ panel: "attention", query: { agent: row.agent } }}><Badge tone="warn">{row.concerns}</Badge></Link>) },
  { key: "unread", title: "Unread", end: true, render: (row) => (row.unread === 0 ? <span class="sub">0</span> : <strong>{row.unread.toLocaleString("en")}</strong>) },
  { key: "tokens", title: "Tokens", end: true, render: (row) => (row.tokens === null || row.tokens === 0 ? <span class="sub">–</span> : <span title={row.tokens.toLocaleString("en")}>{shortNumber(row.tokens)}</span>) },
  {
    key: "last",
    title: "Last event",
    end: true,
    render: (row) =>
      row.last_event === null ? <span class="sub">none</span> : (
        <div class="stack last">
          {row.frozen === null ? <Time value={row.last_event.at} exact /> : <span>{spanOf(Date.parse(row.frozen) - Date.parse(row.last_event.at))} before</span>}
          <span class="sub"><Ref noun="event" id={String(row.last_event.seq)} /> {row.last_event.kind}</span>
        </div>
      ),
  },
];

const Crew = (): JSX.Element => {
  const query = useQuery<Who>("/v1/who", { limit: 1000 }, { on: "any", every: 30_000 });
  const usage = useQuery<Usage>("/v1/usage", {}, { on: ["usage_"] }).data;
  const attention = useQuery<Attention>("/v1/attention", { limit: 500 }, { on: "any", every: 15_000 }).data;
  const tokens = new Map(usage?.agents.map((one) => [one.agentId, one.used.tokens]));
  const frozen = at.value === null ? null : (query.data?.now ?? null);
  const rows: Row[] = (query.data?.agents ?? []).map((agent) => {
    const items = attention?.items.filter((item) => item.agent === agent.agent) ?? [];
    return {
      ...agent,
      tokens: tokens.get(agent.agent) ?? null,
      concerns: items.length,
      errors: items.filter((item) => item.severity === "error").length,
      lapsed: items.filter((item) => item.kind === "lease_expired"),
      frozen,
    };
  });
  // Agents with trouble come first: expired leases, then errors, then other attention items.
  const trouble = (row: Row): number => (lapsed(row, slowNow.value) ? 0 : row.errors > 0 ? 1 : row.concerns > 0 ? 2 : 3);
  rows.sort((a, b) => trouble(a) - trouble(b));
  const picked = route.value.rest[0];
  useEffect(() => {
    if (picked === undefined) return;
    const row = [...document.querySelectorAll("tr[data-key]")].find((one) => one.getAttribute("data-key") === picked);
    row?.scrollIntoView({ block: "nearest" });
  }, [picked, rows.length > 0]);
  return (
    <Panel
      title="Crew"
      command={readingOf("who", "TEAM")}
      note={query.data !== null && <>{countOf(rows.length, "agent")}, {countOf(query.data.live_claims, "live claim")}</>}
      tools={picked !== undefined && <button type="button" class="quiet" onClick={() => go({ rest: [] })}>Show all</button>}
    >
      <Pending query={query} />
      {query.data !== null && rows.length === 0 && <Empty title="No agents yet" why="An agent belongs to the team once it is a member or has acted." command={commandOf("send", "TEAM", "--from", "lead", "--to", "dev", "--type", "handoff")} />}
      {rows.length > 0 && <Table label="Crew" class="crew" columns={COLUMNS} rows={rows} keyOf={(row) => row.agent} rowClass={(row) => (row.agent === picked ? "picked" : undefined)} />}
      {(query.data?.retired ?? []).length > 0 && (
        <p class="sub">
          <Badge tone="muted">retired</Badge> {(query.data?.retired ?? []).map((agent) => <Text key={agent} value={`${agent} `} max={64} />)}
        </p>
      )}
      {query.data !== null && query.data.next_cursor !== null && <p class="sub">The team has more agents than the {rows.length.toLocaleString("en")} shown.</p>}
    </Panel>
  );
};

export const panel: PanelEntry = { id: "crew", title: "Crew", order: 10, key: "c", component: Crew };
