// A trace in the form in which the panel draws it: events in the order of the log, each below its cause, and the
// spans of tasks and messages that the daemon computes.

/** An event of the log in the answers of `/v1/trace/{id}` and `/v1/tasks/{id}/history`. */
export interface TraceEvent {
  seq: number;
  id: string;
  created_at: string;
  kind: string;
  actor: string;
  schema_version?: number;
  payload?: unknown;
  trace_id?: string | null;
  task_id?: string | null;
  agent?: string | null;
  message_id?: string | null;
  thread_id?: string | null;
  session_id?: string | null;
  cause?: string | null;
  key?: string | null;
  superseded?: boolean | null;
  duplicate?: boolean | null;
  refused?: boolean | null;
  foreign?: boolean | null;
  acked?: boolean | null;
  /** The event in one sentence. */
  sentence?: string | null;
}

/** A task or message from its begin to its end. */
export interface Span {
  kind: string;
  id: string;
  agent: string;
  outcome: string;
  first_seq: number;
  last_seq?: number | null;
  duration_us?: number | null;
  started_at?: string | null;
}

/** A cause of an event that is not on the event's page. */
export interface OutsideCause {
  id: string;
  seq?: number | null;
  kind?: string;
  trace_id?: string;
}

/** One page of `/v1/trace/{id}`. */
export interface TracePage {
  trace_id: string;
  events: TraceEvent[];
  spans: Span[];
  causes_outside: OutsideCause[];
  next_cursor: string | null;
}

/** An event and its place in the story. Times are in microseconds. */
export interface Step {
  event: TraceEvent;
  at: number;
  depth: number;
  parent: number | null;
  children: number[];
  /** Known fields of a cause that is not in the story. */
  outside: OutsideCause | null;
  /** Spans that begin with this event. */
  begins: Span[];
  /** Subject of the event in words, such as the title of its task or the type of its message. */
  said: string;
  problem: string | null;
}

export interface Story {
  traceId: string;
  steps: Step[];
  spans: Span[];
  bySeq: Map<number, number>;
  first: number;
  last: number;
  problems: number[];
  missing: OutsideCause[];
}

/**
 * Converts a time to microseconds since 1970. `Date.parse` would lose the microseconds, which bars of short traces
 * need.
 */
export function micros(time: string): number {
  const millis = Date.parse(time);
  const fraction = /\.\d{3}(\d{1,3})/.exec(time)?.[1] ?? "";
  return millis * 1000 + Number(fraction.padEnd(3, "0") || 0);
}

/** Arranges the events of a page as a tree by cause, and marks problems. */
export function storyOf(page: TracePage): Story {
  const byId = new Map<string, number>();
  const sentBy = new Map<string, number>();
  const outside = new Map(page.causes_outside.map((cause) => [cause.id, cause]));
  const begun = new Map<number, Span[]>();
  for (const span of page.spans) {
    const list = begun.get(span.first_seq);
    if (list) list.push(span);
    else begun.set(span.first_seq, [span]);
  }
  const steps: Step[] = [];
  const bySeq = new Map<number, number>();
  const missing = new Map<string, OutsideCause>();
  for (const event of page.events) {
    const index = steps.length;
    const parent = parentOf(event, byId, sentBy);
    const above = parent === null ? undefined : steps[parent];
    const unknown = event.cause && parent === null ? (outside.get(event.cause) ?? { id: event.cause }) : null;
    if (unknown) missing.set(unknown.id, unknown);
    const begins = begun.get(event.seq) ?? [];
    steps.push({
      event,
      at: micros(event.created_at),
      depth: above ? above.depth + 1 : 0,
      parent,
      children: [],
      outside: unknown,
      begins,
      said: said(event),
      problem: problemOf(event, begins),
    });
    above?.children.push(index);
    byId.set(event.id, index);
    bySeq.set(event.seq, index);
    if (event.kind === "message_sent" && event.message_id) sentBy.set(event.message_id, index);
  }
  let first = Infinity;
  let last = -Infinity;
  for (const step of steps) {
    first = Math.min(first, step.at);
    last = Math.max(last, step.at);
  }
  return {
    traceId: page.trace_id,
    steps,
    spans: page.spans,
    bySeq,
    first: steps.length ? first : 0,
    last: steps.length ? last : 0,
    problems: steps.flatMap((step, index) => (step.problem ? [index] : [])),
    missing: [...missing.values()],
  };
}

// Like `teamlog trace`: an event is below its cause; without a cause, an event about a message is below the event
// that sent the message. A cause must precede its event, so a log cannot create a loop.
function parentOf(
  event: TraceEvent,
  byId: ReadonlyMap<string, number>,
  sentBy: ReadonlyMap<string, number>,
): number | null {
  if (event.cause) return byId.get(event.cause) ?? null;
  if (event.message_id && event.kind !== "message_sent") return sentBy.get(event.message_id) ?? null;
  return null;
}

const BAD_KIND = /fail|error|dead_letter|refused|rejected|expired|breach|denied|quarantin|timed_out|too_late/;
const BAD_OUTCOME = new Set(["failed", "dead_letter", "lease_expired", "canceled"]);

function problemOf(event: TraceEvent, begins: readonly Span[]): string | null {
  if (event.superseded) return "superseded: changed nothing";
  if (event.duplicate) return "duplicate: changed nothing";
  if (event.refused) return "refused";
  if (BAD_KIND.test(event.kind)) return words(event.kind);
  const bad = begins.find((span) => BAD_OUTCOME.has(span.outcome));
  return bad ? `${bad.kind} ${bad.id} ${words(bad.outcome)}` : null;
}

/** Formats a name such as `lease_expired` for people. */
export function words(name: string): string {
  return name.replaceAll("_", " ");
}

/** Returns the text or number in a field of a value. */
export function field(value: unknown, name: string): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const found = (value as Record<string, unknown>)[name];
  return typeof found === "string" ? found : typeof found === "number" ? String(found) : undefined;
}

/** Returns the message envelope of a `message_sent` event. */
export function message(event: TraceEvent): Record<string, unknown> | undefined {
  const payload = event.payload as { message?: unknown } | null | undefined;
  return typeof payload?.message === "object" && payload.message !== null
    ? (payload.message as Record<string, unknown>)
    : undefined;
}

/** Returns the sender of a message if the sender is not the acting agent. */
export function senderOf(event: TraceEvent): string | null {
  const from = field(message(event), "from") ?? field(event.payload, "from");
  return from && from !== event.actor ? from : null;
}

const LONGEST = 200;

/** Returns the sentence of an event, cut to the length of a line. */
export function said(event: TraceEvent): string {
  const text = event.sentence ?? "";
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}
