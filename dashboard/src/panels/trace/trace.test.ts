import { describe, expect, it } from "vitest";
import { around, barOf, collapsible, findRows, rowsOf, thinned } from "./rows.ts";
import { joinPages, refreshed } from "./pages.ts";
import { duration, place, share, ticks } from "./scale.ts";
import { micros, senderOf, storyOf, type TraceEvent, type TracePage } from "./story.ts";

const MINUTE = 60_000_000;
const ZERO = micros("2026-11-25T13:56:26.250000Z");

function time(minute: number): string {
  return new Date((ZERO + minute * MINUTE) / 1000).toISOString().replace("Z", "000Z");
}

function event(seq: number, minute: number, kind: string, more: Partial<TraceEvent> = {}): TraceEvent {
  return { seq, id: `e-${seq}`, created_at: time(minute), kind, actor: "dev", trace_id: "tr-login", ...more };
}

// Returns the trace of `teamlog demo`.
function login(): TracePage {
  const sent = (seq: number, minute: number, task: string, id: string, more: Partial<TraceEvent> = {}): TraceEvent =>
    event(seq, minute, "message_sent", {
      task_id: task,
      message_id: id,
      payload: { message: { type: "task_update", from: "dev", to: "lead", payload: { status: "in_progress" } } },
      ...more,
    });
  return {
    trace_id: "tr-login",
    next_cursor: null,
    events: [
      sent(2, 1, "T-1", "m2", { actor: "lead" }),
      sent(3, 5, "T-1", "m3"),
      sent(4, 32, "T-2", "m4"),
      event(5, 68, "ci_run_finished", { task_id: "T-1", foreign: true, payload: { run: 512 } }),
      sent(6, 70, "T-1", "m6"),
      event(7, 71, "message_duplicate", { message_id: "m6", duplicate: true }),
      sent(8, 75, "T-1", "m8", { superseded: true }),
      event(9, 90, "message_acked", { message_id: "m6" }),
      sent(11, 150, "T-2", "m11"),
    ],
    spans: [
      {
        kind: "task",
        id: "T-1",
        agent: "dev",
        outcome: "completed",
        first_seq: 2,
        last_seq: 6,
        duration_us: 69 * MINUTE,
      },
      { kind: "message", id: "m2", agent: "dev", outcome: "open", first_seq: 2, last_seq: null, duration_us: null },
      {
        kind: "task",
        id: "T-2",
        agent: "qa",
        outcome: "completed",
        first_seq: 4,
        last_seq: 11,
        duration_us: 118 * MINUTE,
      },
      {
        kind: "message",
        id: "m6",
        agent: "lead",
        outcome: "acked",
        first_seq: 6,
        last_seq: 9,
        duration_us: 20 * MINUTE,
      },
    ],
    causes_outside: [],
  };
}

describe("story", () => {
  it("hangs facts about a message below its sending", () => {
    const story = storyOf(login());
    expect(story.steps.map((step) => step.depth)).toEqual([0, 0, 0, 0, 0, 1, 0, 1, 0]);
    expect(story.steps[4]?.children).toEqual([5, 7]);
  });

  it("marks as problems what changed nothing, and no more", () => {
    const story = storyOf(login());
    expect(story.problems.map((index) => story.steps[index]?.event.seq)).toEqual([7, 8]);
  });

  it("warns of a cause that the trace does not hold, and follows none that comes later", () => {
    const page = login();
    page.events = [event(2, 1, "a", { cause: "e-3" }), event(3, 2, "b", { cause: "gone" })];
    page.causes_outside = [{ id: "gone", seq: 1, kind: "team_created" }];
    const story = storyOf(page);
    expect(story.missing.map((cause) => cause.id)).toEqual(["e-3", "gone"]);
    expect(story.steps[0]?.parent).toBeNull();
    expect(story.steps[1]?.outside?.seq).toBe(1);
  });

  it("keeps microseconds", () => {
    expect(micros("2026-11-25T13:56:26.250123Z") - ZERO).toBe(123);
    expect(micros("2026-11-25T13:56:26.250Z")).toBe(ZERO);
  });

  it("tells the sender where somebody else recorded it", () => {
    expect(senderOf(login().events[0] as TraceEvent)).toBe("dev");
    expect(senderOf(login().events[1] as TraceEvent)).toBeNull();
  });

  it("joins pages, and ends the spans that end on another one", () => {
    const whole = login();
    const older: TracePage = {
      ...whole,
      events: whole.events.slice(0, 5),
      next_cursor: "e-0",
      spans: whole.spans.map((span) => ({ ...span, last_seq: span.id === "T-1" ? 6 : null, duration_us: null })),
      causes_outside: [],
    };
    const newer: TracePage = {
      ...whole,
      events: whole.events.slice(5),
      spans: [],
      causes_outside: [{ id: "e-6" }, { id: "gone" }],
    };
    const joined = joinPages([newer, older]);
    expect(joined.events.map((each) => each.seq)).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 11]);
    expect(joined.next_cursor).toBe("e-0");
    expect(joined.causes_outside.map((cause) => cause.id)).toEqual(["gone"]);
    const acked = joined.spans.find((span) => span.id === "m6");
    expect([acked?.last_seq, acked?.outcome, acked?.duration_us]).toEqual([9, "acked", 20 * MINUTE]);
  });
});

describe("pages", () => {
  const part = (from: number, to: number, cursor: string | null): TracePage => {
    const whole = login();
    const within = (seq: number): boolean => seq >= from && seq <= to;
    return {
      ...whole,
      next_cursor: cursor,
      events: whole.events.filter((each) => within(each.seq)),
      spans: whole.spans.filter((span) => within(span.first_seq)),
    };
  };

  it("keeps what was read of a trace that has grown", () => {
    const pages = refreshed([part(5, 8, "e-5"), part(2, 4, null)], part(6, 11, "e-6"));
    const joined = joinPages(pages ?? []);
    expect(joined.events.map((each) => each.seq)).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 11]);
    expect(joined.spans.map((span) => span.id)).toEqual(["T-1", "m2", "T-2", "m6"]);
    expect(joined.next_cursor).toBeNull();
  });

  it("reads all again where the newest page does not reach back", () => {
    expect(refreshed([part(2, 4, null)], part(6, 11, "e-6"))).toBeNull();
    expect(refreshed([], part(6, 11, "e-6"))).toBeNull();
  });
});

describe("rows", () => {
  it("shows nine rows for nine events, with the bar of T-1 from #2 to #6", () => {
    const story = storyOf(login());
    const rows = rowsOf(story, "full", new Set());
    expect(rows.map((row) => row.seq)).toEqual([2, 3, 4, 5, 6, 7, 9, 8, 11]);
    const bar = rows[0]?.bars[0];
    expect([bar?.firstSeq, bar?.lastSeq, bar?.from, bar?.to]).toEqual([2, 6, ZERO + MINUTE, ZERO + 70 * MINUTE]);
    expect(rows.filter((row) => row.struck).map((row) => row.seq)).toEqual([7, 8]);
    expect(rows.find((row) => row.seq === 8)?.marks).toEqual(["superseded: changed nothing"]);
  });

  it("leaves the roots when all is collapsed", () => {
    const story = storyOf(login());
    const rows = rowsOf(story, "full", new Set(collapsible(story, "full")));
    expect(rows.map((row) => row.seq)).toEqual([2, 3, 4, 5, 6, 8, 11]);
    expect(rows.every((row) => row.depth === 0)).toBe(true);
  });

  it("draws no bar for a message that nobody had to acknowledge", () => {
    const story = storyOf(login());
    expect(barOf(story.spans[1]!, story)).toBeNull();
  });

  it("has a row for each activity, and a lane for each agent", () => {
    const story = storyOf(login());
    expect(rowsOf(story, "compact", new Set()).map((row) => row.label)).toEqual(["T-1", "T-2", "m6"]);
    expect(rowsOf(story, "timeline", new Set()).map((row) => row.label)).toEqual(["lead", "dev"]);
    expect(rowsOf(story, "compact", new Set(["task T-2"]))).toHaveLength(5);
  });

  it("takes a chain of 20,000 causes", () => {
    const events = Array.from({ length: 20_000 }, (_, at) => event(at + 1, at, "a", at ? { cause: `e-${at}` } : {}));
    const story = storyOf({ ...login(), events, spans: [] });
    const rows = rowsOf(story, "full", new Set());
    expect(rows).toHaveLength(20_000);
    expect(rows[19_999]?.depth).toBe(19_999);
  });

  it("draws of what stands in one spot only the worst", () => {
    const dots = Array.from({ length: 9000 }, (_, at) => ({
      seq: at,
      at,
      title: "",
      problem: at === 4001,
      struck: false,
    }));
    const drawn = thinned(dots, { from: 0, to: 9000 });
    expect(drawn.length).toBeLessThan(720);
    expect(drawn.some((dot) => dot.seq === 4001)).toBe(true);
    expect(thinned(dots, { from: 100, to: 110 }).map((dot) => dot.seq)).toHaveLength(11);
    expect(thinned(dots.slice(0, 9), { from: 0, to: 1 })).toHaveLength(9);
  });

  it("finds by text, and goes around", () => {
    const rows = rowsOf(storyOf(login()), "full", new Set());
    expect(findRows(rows, "CI_run")).toEqual([3]);
    expect(findRows(rows, "#9")).toEqual([6]);
    expect(findRows(rows, " ")).toEqual([]);
    expect([around([2, 5], 2), around([2, 5], 5), around([2, 5], 2, true), around([], 1)]).toEqual([5, 2, 5, null]);
  });
});

describe("scale", () => {
  it("places by the ratio of times, and cuts at the edges", () => {
    expect(share(1025, { from: 1000, to: 1100 })).toBe(0.25);
    expect(place(25, 75, { from: 0, to: 100 })).toEqual({ left: 25, width: 50 });
    expect(place(-25, 50, { from: 0, to: 100 })).toEqual({ left: 0, width: 50 });
    expect(place(101, 120, { from: 0, to: 100 })).toBeNull();
    expect(share(5, { from: 7, to: 7 })).toBe(0);
  });

  it("ticks at round offsets", () => {
    expect(ticks({ from: ZERO, to: ZERO + 150 * MINUTE }, ZERO, 4).map(duration)).toEqual(["0 s", "1 h", "2 h"]);
    expect(ticks({ from: 0, to: 0 }, 0, 5)).toEqual([]);
  });

  it("says durations in at most two units", () => {
    expect([820, 1500, 61e6, 3599.7e6, 3661e6, 90_000e6].map(duration)).toEqual([
      "820 µs",
      "1.5 ms",
      "1 m 1 s",
      "1 h",
      "1 h 1 m",
      "1 d 1 h",
    ]);
  });
});
