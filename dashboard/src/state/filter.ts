// The filter for events: read from the address, sent to the daemon in queries, and applied to events of the stream.
// The whole page shares one stream, so its events are filtered here with the rules of the daemon.

import type { Params } from "../api/client.ts";
import type { LogEvent } from "../api/types.ts";

export const FIELDS = ["kind", "type", "actor", "agent", "task", "trace"] as const;
export type Field = (typeof FIELDS)[number];

export interface Filter {
  kinds: string[];
  /** Type of a message. */
  type: string;
  actor: string;
  agent: string;
  task: string;
  trace: string;
  /** Values that are excluded. */
  not: { field: Field; value: string }[];
  text: string;
  /** True to include bookkeeping events. */
  all: boolean;
}

const list = (text: string | undefined): string[] => (text ?? "").split(",").filter((part) => part !== "").map(unescaped);
// Escape commas and colons, which separate the parts of a filter.
const escaped = (value: string): string => value.replaceAll("%", "%25").replaceAll(",", "%2C").replaceAll(":", "%3A");
const unescaped = (value: string): string => value.replaceAll("%3A", ":").replaceAll("%2C", ",").replaceAll("%25", "%");

export const readFilter = (query: Record<string, string>): Filter => ({
  kinds: list(query["kind"]),
  type: query["type"] ?? "",
  actor: query["actor"] ?? "",
  agent: query["agent"] ?? "",
  task: query["task"] ?? "",
  trace: query["trace"] ?? "",
  not: (query["not"] ?? "").split(",").flatMap((part) => {
    const colon = part.indexOf(":");
    const field = FIELDS.find((one) => one === part.slice(0, colon));
    return field === undefined ? [] : [{ field, value: unescaped(part.slice(colon + 1)) }];
  }),
  text: query["q"] ?? "",
  all: query["all"] === "true",
});

/** Returns the filter as query parameters of the address. */
export const writeFilter = (filter: Filter): Record<string, string> => ({
  kind: filter.kinds.map(escaped).join(","),
  type: filter.type,
  actor: filter.actor,
  agent: filter.agent,
  task: filter.task,
  trace: filter.trace,
  not: filter.not.map((one) => `${one.field}:${escaped(one.value)}`).join(","),
  q: filter.text,
  all: filter.all ? "true" : "",
});

/** Returns the filter with a value included or excluded after a click. */
export const picked = (filter: Filter, field: Field, value: string, out: boolean): Filter => {
  const not = filter.not.filter((one) => one.field !== field || one.value !== value);
  if (out) return { ...dropped(filter, field, value), not: [...not, { field, value }] };
  if (field === "kind") return { ...filter, not, kinds: filter.kinds.includes(value) ? filter.kinds : [...filter.kinds, value] };
  return { ...filter, not, [field]: value };
};

export const dropped = (filter: Filter, field: Field, value: string): Filter =>
  field === "kind"
    ? { ...filter, kinds: filter.kinds.filter((one) => one !== value) }
    : filter[field] === value ? { ...filter, [field]: "" } : filter;

/**
 * Returns the parameters of the query to the daemon. A comma separates exclusions there, so the page itself excludes a
 * value that contains a comma.
 */
export const questionOf = (filter: Filter): Params => ({
  kind: filter.kinds.join(","),
  type: filter.type,
  actor: filter.actor,
  agent: filter.agent,
  task_id: filter.task,
  trace_id: filter.trace,
  not: filter.not.filter((one) => !one.value.includes(",")).map((one) => `${one.field}:${one.value}`).join(","),
  q: filter.text,
  bookkeeping: filter.all || filter.kinds.length > 0,
});

/** Returns the options of `teamlog log` for this filter. */
export const optionsOf = (filter: Filter): string[] => {
  const given = (option: string, value: string): string[] => (value === "" ? [] : [option, value]);
  return [
    ...given("--kind", filter.kinds.join(",")),
    ...given("--type", filter.type),
    ...given("--by", filter.actor),
    ...given("--agent", filter.agent),
    ...given("--task", filter.task),
    ...given("--trace-id", filter.trace),
    ...filter.not.flatMap((one) => ["--not", `${one.field}:${one.value}`]),
    ...given("--text", filter.text),
    ...(filter.all ? ["--all"] : []),
  ];
};

/** Returns the type of the message that an event records. */
export const messageType = (event: LogEvent): string | undefined => {
  if (event.kind !== "message_sent" || event.foreign === true) return undefined;
  const type = (event.payload as { message?: { type?: unknown } } | null)?.message?.type;
  return typeof type === "string" ? type : undefined;
};

export const valueOf = (event: LogEvent, field: Field): string | undefined =>
  ({ kind: event.kind, type: messageType(event), actor: event.actor, agent: event.agent, task: event.task_id, trace: event.trace_id })[field];

const bookkeeping = (event: LogEvent): boolean => event.kind === "response_stored" && event.foreign !== true;

export const leftOut = (filter: Filter, event: LogEvent): boolean =>
  filter.not.some((one) => valueOf(event, one.field) === one.value);

const REFS = ["trace_id", "task_id", "agent", "message_id", "thread_id", "session_id", "cause", "key"] as const;

const holds = (event: LogEvent, text: string): boolean => {
  const small = text.toLowerCase();
  // Also search for the JSON form of the text.
  const written = JSON.stringify(small).slice(1, -1);
  return (
    [event.kind, event.actor, ...REFS.map((ref) => event[ref])].some((part) => part?.toLowerCase().includes(small)) ||
    JSON.stringify(event.payload ?? null).toLowerCase().includes(written)
  );
};

export const matches = (filter: Filter, event: LogEvent): boolean =>
  (filter.all || filter.kinds.length > 0 || !bookkeeping(event)) &&
  (filter.kinds.length === 0 || filter.kinds.includes(event.kind)) &&
  (filter.type === "" || messageType(event) === filter.type) &&
  (filter.actor === "" || event.actor === filter.actor) &&
  (filter.agent === "" || event.agent === filter.agent) &&
  (filter.task === "" || event.task_id === filter.task) &&
  (filter.trace === "" || event.trace_id === filter.trace) &&
  (filter.text === "" || holds(event, filter.text)) &&
  !leftOut(filter, event);
