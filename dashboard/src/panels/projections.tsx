// The scripted projections of the team, and the states of one projection as a table.

import type { JSX } from "preact";
import type { Projection, ProjectionList, ProjectionStates } from "../api/types.ts";
import { useQuery } from "../state/query.ts";
import { Badge, countOf } from "../ui/parts.tsx";
import { Table, type Column } from "../ui/table.tsx";
import { Text } from "../ui/text.tsx";
import type { PanelEntry } from "./index.ts";
import { commandOf, Empty, Failed, go, Link, Panel, readingOf, subject } from "./page.tsx";

/** Largest number of columns for members of the states. With more, a state is one column of JSON. */
const COLUMNS = 12;

const trouble = (one: Projection): string | null => {
  if (one.unsupported !== undefined) return one.unsupported;
  const failure = one.failure;
  if (failure === undefined) return null;
  const line = failure.line === undefined ? "" : `, line ${failure.line}`;
  return `stopped at event ${failure.seq}: ${failure.field}${line}: ${failure.message}`;
};

const Trouble = ({ one }: { one: Projection }): JSX.Element | null => {
  const why = trouble(one);
  return why === null ? null : <span class="line"><Badge tone="error">{one.failure === undefined ? "not folded" : "stopped"}</Badge><Text value={why} max={400} /></span>;
};

const LIST: readonly Column<Projection>[] = [
  { key: "name", title: "Projection", render: (one) => <Link panel={null} params={{ id: one.name }}><Text value={one.name} max={64} fixed /></Link> },
  { key: "seq", title: "Folded up to", end: true, render: (one) => (one.seq === undefined ? <span class="sub">–</span> : one.seq.toLocaleString("en")) },
  { key: "key", title: "Key", render: (one) => <Text value={one.key_by ?? "one state"} max={80} /> },
  { key: "filter", title: "Events", extra: true, render: (one) => <Text value={one.filter ?? "all"} max={120} /> },
  { key: "trouble", title: "State", wide: true, render: (one) => <Trouble one={one} /> },
];

const All = (): JSX.Element => {
  const query = useQuery<ProjectionList>("/v1/projections", {}, { on: ["projection_"], every: 10_000 });
  const rows = query.data?.projections ?? [];
  return (
    <Panel title="Projections" command={readingOf("project", "list", "TEAM")} busy={query.loading && query.data === null} note={query.data !== null && countOf(rows.length, "projection")}>
      {query.error !== null && <Failed error={query.error} again={query.reload} />}
      {query.data !== null && rows.length === 0 && <Empty title="No projections" command={commandOf("project", "TEAM", "counts", "--fold", "counts.rhai", "--key", "event.actor")}>A projection is a script that folds events into states. The leader declares it.</Empty>}
      {rows.length > 0 && <Table label="Projections" columns={LIST} rows={rows} keyOf={(one) => one.name} />}
    </Panel>
  );
};

type Row = ProjectionStates["states"][number];

const isObject = (state: unknown): state is Record<string, unknown> => typeof state === "object" && state !== null && !Array.isArray(state);

const cell = (value: unknown): JSX.Element | string => {
  if (value === undefined || value === null) return "";
  if (typeof value === "number") return value.toLocaleString("en");
  return <Text value={typeof value === "string" ? value : JSON.stringify(value)} max={240} />;
};

const columnsOf = (rows: readonly Row[]): Column<Row>[] => {
  const key: Column<Row> = { key: "key", title: "Key", render: (row) => <Text value={row.key ?? "–"} max={128} fixed /> };
  const states = rows.map((row) => row.state);
  const names = [...new Set(states.flatMap((state) => (isObject(state) ? Object.keys(state) : [])))].sort();
  if (!states.every(isObject) || names.length === 0 || names.length > COLUMNS) {
    return [key, { key: "state", title: "State", wide: true, render: (row) => cell(row.state) }];
  }
  const member = (name: string): Column<Row> => ({
    key: `member ${name}`,
    title: name,
    end: states.every((state) => !isObject(state) || typeof (state[name] ?? 0) === "number"),
    render: (row) => (isObject(row.state) ? cell(row.state[name]) : ""),
  });
  return [key, ...names.map(member)];
};

const One = ({ name }: { name: string }): JSX.Element => {
  const query = useQuery<ProjectionStates>(`/v1/projections/${encodeURIComponent(name)}`, { limit: 500 }, { on: "any" });
  const { data } = query;
  const rows = data?.states ?? [];
  return (
    <Panel
      title={name}
      command={readingOf("project", "show", "TEAM", name)}
      busy={query.loading && data === null}
      note={data !== null && <>{countOf(rows.length, "key")}{data.projection.seq !== undefined && `, up to event ${data.projection.seq.toLocaleString("en")}`}</>}
      tools={<button type="button" class="quiet" onClick={() => go({ id: null })}>All projections</button>}
    >
      {query.error !== null && <Failed error={query.error} again={query.reload} />}
      {data !== null && <Trouble one={data.projection} />}
      {rows.length > 0 && <Table label={`States of ${name}`} columns={columnsOf(rows)} rows={rows} keyOf={(row) => row.key ?? ""} />}
      {data !== null && rows.length === 0 && <Empty title="No states yet">No event has a key of this projection.</Empty>}
      {data !== null && data.next_cursor !== null && <p class="sub">The projection has more keys than the {rows.length.toLocaleString("en")} shown.</p>}
    </Panel>
  );
};

const Projections = (): JSX.Element => {
  const name = subject();
  return name === null ? <All /> : <One name={name} />;
};

export const panel: PanelEntry = { id: "projections", title: "Projections", order: 75, key: "j", component: Projections };
