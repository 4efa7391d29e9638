import { describe, expect, it } from "vitest";
import type { LogEvent } from "../api/types.ts";
import { dropped, matches, optionsOf, picked, questionOf, readFilter, writeFilter } from "./filter.ts";

const event = (fields: Partial<LogEvent>): LogEvent => ({ seq: 1, id: "x", created_at: "2026-01-01T00:00:00Z", kind: "message_sent", actor: "ada", payload: {}, ...fields });
const NONE = readFilter({});

describe("filters of events", () => {
  it("come back from the address as they were, whatever names hold", () => {
    let filter = picked(NONE, "kind", "a,b:c%", false);
    filter = picked(filter, "actor", "cyd", false);
    filter = picked(filter, "task", "1:2,3", true);
    filter = { ...filter, text: "x & y", all: true };
    expect(readFilter(writeFilter(filter))).toEqual(filter);
  });

  it("gather kinds, and put one actor in the place of another", () => {
    const filter = ["a", "b", "a"].reduce((one, kind) => picked(one, "kind", kind, false), NONE);
    expect(filter.kinds).toEqual(["a", "b"]);
    expect(picked(picked(NONE, "actor", "ada", false), "actor", "bob", false).actor).toBe("bob");
  });

  it("do not want and leave out the same value", () => {
    const out = picked(picked(NONE, "actor", "ada", false), "actor", "ada", true);
    expect([out.actor, out.not]).toEqual(["", [{ field: "actor", value: "ada" }]]);
    expect(picked(out, "actor", "ada", false).not).toEqual([]);
    expect(dropped(picked(NONE, "kind", "a", false), "kind", "a").kinds).toEqual([]);
  });

  it("hide bookkeeping unless asked, but not a foreign event of that name", () => {
    expect(matches(NONE, event({ kind: "response_stored" }))).toBe(false);
    expect(matches(NONE, event({ kind: "response_stored", foreign: true }))).toBe(true);
    expect(matches({ ...NONE, all: true }, event({ kind: "response_stored" }))).toBe(true);
  });

  it("look for text in kind, actor, refs and payload, in either case", () => {
    const one = event({ task_id: "T-Parser", payload: { note: "Needs KEY" } });
    for (const text of ["MESSAGE_s", "ada", "t-parser", "needs key"]) expect(matches({ ...NONE, text }, one)).toBe(true);
    expect(matches({ ...NONE, text: "2026" }, one)).toBe(false);
    const written = event({ payload: { note: 'say "hi" to C:\\dir' } });
    for (const text of ['say "HI"', "c:\\dir"]) expect(matches({ ...NONE, text }, written)).toBe(true);
  });

  it("hold each field against the ref of its name", () => {
    const one = event({ task_id: "3", trace_id: "tr", agent: "bob" });
    expect(matches({ ...NONE, task: "3", trace: "tr", agent: "bob", actor: "ada", kinds: ["x", "message_sent"] }, one)).toBe(true);
    for (const wrong of [{ task: "4" }, { trace: "t" }, { agent: "ada" }, { actor: "bob" }, { kinds: ["x"] }, { not: [{ field: "agent" as const, value: "bob" }] }]) {
      expect(matches({ ...NONE, ...wrong }, one)).toBe(false);
    }
  });

  it("ask the daemon for all that it knows of", () => {
    expect(questionOf({ ...NONE, kinds: ["a", "b"], task: "3", text: "x" })).toMatchObject({ kind: "a,b", task_id: "3", q: "x", bookkeeping: true });
    expect(questionOf({ ...NONE, type: "handoff", not: [{ field: "task", value: "1:2" }, { field: "actor", value: "a,b" }] })).toMatchObject({ type: "handoff", not: "task:1:2", bookkeeping: false });
  });
  it("become the options of a command, with every value", () => {
    const filter = readFilter({ kind: "a,b", type: "handoff", actor: "ada", agent: "bob", task: "3", trace: "tr", not: "kind:c,task:1%3A2", q: "x y", all: "true" });
    expect(optionsOf(filter)).toEqual(["--kind", "a,b", "--type", "handoff", "--by", "ada", "--agent", "bob", "--task", "3", "--trace-id", "tr", "--not", "kind:c", "--not", "task:1:2", "--text", "x y", "--all"]);
    expect(optionsOf(NONE)).toEqual([]);
  });
  it("know the type of a message", () => {
    const sent = event({ payload: { message: { type: "handoff" } } });
    expect([matches({ ...NONE, type: "handoff" }, sent), matches({ ...NONE, type: "task_assign" }, sent)]).toEqual([true, false]);
    expect(matches({ ...NONE, not: [{ field: "type", value: "handoff" }] }, sent)).toBe(false);
  });
});
