// Joins the pages of a long trace. A span may begin on one page and end on another, so its end is searched here. All
// other data stays as the daemon sent it.

import { field, message, micros, type OutsideCause, type Span, type TraceEvent, type TracePage } from "./story.ts";

/** Joins pages, which may be in any order. */
export function joinPages(pages: readonly TracePage[]): TracePage {
  const ordered = pages
    .filter((page) => page.events.length > 0)
    .sort((a, b) => (a.events[0]?.seq ?? 0) - (b.events[0]?.seq ?? 0));
  const events = ordered.flatMap((page) => page.events);
  const ids = new Set(events.map((event) => event.id));
  const outside = new Map<string, OutsideCause>();
  for (const page of pages) {
    for (const cause of page.causes_outside) {
      if (!ids.has(cause.id)) outside.set(cause.id, cause);
    }
  }
  const spans = ordered.flatMap((page) => page.spans.map((span) => ({ ...span })));
  if (ordered.length > 1) endAcrossPages(spans, events);
  return {
    trace_id: pages[0]?.trace_id ?? "",
    events,
    spans,
    causes_outside: [...outside.values()],
    next_cursor: ordered[0]?.next_cursor ?? null,
  };
}

const ENDS_TASK: Readonly<Record<string, string>> = {
  task_completed: "completed",
  task_failed: "failed",
  task_canceled: "canceled",
  task_released: "released",
  task_lease_expired: "lease_expired",
};
const ENDS_MESSAGE: Readonly<Record<string, string>> = {
  message_acked: "acked",
  delivery_dead_letter: "dead_letter",
};

function endAcrossPages(spans: Span[], events: readonly TraceEvent[]): void {
  const ends = new Map<string, { at: TraceEvent; outcome: string }[]>();
  const note = (key: string, at: TraceEvent, outcome: string): void => {
    const list = ends.get(key);
    if (list) list.push({ at, outcome });
    else ends.set(key, [{ at, outcome }]);
  };
  for (const event of events) {
    const outcome = ENDS_TASK[event.kind] ?? (event.superseded ? undefined : finalStatus(event));
    if (outcome && event.task_id) note(`task ${event.task_id}`, event, outcome);
    const told = ENDS_MESSAGE[event.kind];
    if (told && event.message_id) note(`message ${event.message_id}`, event, told);
  }
  for (const span of spans) {
    if (span.last_seq != null) continue;
    const end = ends.get(`${span.kind} ${span.id}`)?.find(({ at }) => at.seq > span.first_seq);
    if (!end) continue;
    span.last_seq = end.at.seq;
    span.outcome = end.outcome;
    const began = span.started_at ?? events.find((event) => event.seq === span.first_seq)?.created_at;
    if (began) span.duration_us = micros(end.at.created_at) - micros(began);
  }
}

function finalStatus(event: TraceEvent): string | undefined {
  const status = field(message(event)?.["payload"], "status");
  if (status === "done" || status === "skipped") return "completed";
  if (status === "cancelled") return "canceled";
  return status === "completed" || status === "failed" || status === "canceled" ? status : undefined;
}

/**
 * Returns the pages of a trace that has grown, after only the newest page was read again. Returns `null` if the new
 * page does not reach the known pages, so that all pages must be read again.
 */
export function refreshed(known: readonly TracePage[], fresh: TracePage): TracePage[] | null {
  const oldest = fresh.events[0]?.seq;
  const newest = Math.max(0, ...known.map((page) => page.events.at(-1)?.seq ?? 0));
  if (oldest === undefined || oldest > newest) return null;
  const older = known.map((page) => ({
    ...page,
    events: page.events.filter((event) => event.seq < oldest),
    spans: page.spans.filter((span) => span.first_seq < oldest),
  }));
  return [fresh, ...older.filter((page) => page.events.length > 0)];
}
