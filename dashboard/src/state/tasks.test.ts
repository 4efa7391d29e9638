import { describe, expect, it } from "vitest";
import type { Task, TaskStatus } from "../api/types.ts";
import { dependentsOf, inVain, newer, withChanged, withPage, type Tasks } from "./tasks.ts";
import { inFront } from "./tail.ts";

const task = (id: string, status: TaskStatus = "pending", deps: string[] = [], version = 1): Task => ({
  id, status, deps, version, title: id, owner: null, resources: [], lease: null, epoch: 0,
  timestamps: { createdAt: "2026-01-01T00:00:00Z", startedAt: null, completedAt: null, failedAt: null },
});
const NONE: Tasks = { list: [], byId: new Map(), complete: false, loading: true, error: null };
const ids = (tasks: Tasks): string[] => tasks.list.map((one) => one.id);

describe("the list of tasks", () => {
  it("holds each task once, the newest answer in front", () => {
    const read = withPage(NONE, [task("3"), task("2"), task("1")]);
    const changed = withChanged(read, [task("1", "completed", [], 2)]);
    expect(ids(changed)).toEqual(["1", "3", "2"]);
    expect(changed.byId.get("1")?.status).toBe("completed");
    expect(read.byId.get("1")?.status).toBe("pending");
  });

  it("keeps what was read anew before a page with an older answer came", () => {
    const changed = withChanged(NONE, [task("1", "completed", [], 2)]);
    const read = withPage(changed, [task("2"), task("1")]);
    expect(ids(read)).toEqual(["1", "2"]);
    expect(read.byId.get("1")?.version).toBe(2);
  });

  it("takes nothing older than what it has", () => {
    const read = withPage(NONE, [task("1", "completed", [], 2), task("2")]);
    const found = newer(read, [task("1", "pending", [], 1), task("2", "pending", [], 1), task("3")]);
    expect(found.map((one) => one.id)).toEqual(["2", "3"]);
  });

  it("tells which tasks wait for which, and which are stuck", () => {
    const read = withPage(NONE, [task("3", "blocked", ["1", "2"]), task("2", "canceled"), task("1")]);
    expect(dependentsOf(read.list)).toEqual(new Map([["1", ["3"]], ["2", ["3"]]]));
    expect(inVain(task("3", "blocked", ["1", "2"]), read.byId)).toEqual(["2"]);
    expect(inVain(task("3", "completed", ["2"]), read.byId)).toEqual([]);
    expect(inVain({ ...task("3", "blocked", ["1", "2"]), failedDependencies: ["1"] }, read.byId)).toEqual(["1"]);
  });
});

describe("the list of events", () => {
  it("puts what comes in front, newest first, none twice", () => {
    const event = (seq: number) => ({ seq, id: String(seq), created_at: "", kind: "k", actor: "a" });
    expect(inFront([event(5), event(3)], [event(4), event(5), event(6), event(7)]).map((one) => one.seq)).toEqual([7, 6, 5, 3]);
  });
});
