import { expect, it } from "vitest";
import { changesBetween, shown } from "./changes.ts";
import { neighbourhood } from "./neighbours.ts";

it("tells the fields that differ, nested ones by their path", () => {
  const before = { id: "1", status: "pending", version: 1, lease: null, timestamps: { startedAt: null }, deps: ["2"] };
  const after = {
    id: "1",
    status: "in_progress",
    version: 2,
    lease: { holder: "ada" },
    timestamps: { startedAt: "now" },
    deps: ["2"],
  };
  expect(changesBetween(before, after).map((change) => change.field)).toEqual([
    "lease",
    "status",
    "timestamps.startedAt",
  ]);
  expect(changesBetween(undefined, { id: "1" })).toEqual([{ field: "id", from: null, to: "1" }]);
  expect([shown(null), shown(""), shown(["a"])]).toEqual(["nothing", "empty", '["a"]']);
});

it("finds the tasks around a task, dependencies first into it", () => {
  const tasks = ["1", "2", "3", "4", "5"].map((id, at) => ({ id, status: "pending", deps: at ? [String(at)] : [] }));
  const near = neighbourhood(tasks, "3", 1);
  expect(near.tasks.map((task) => task.id)).toEqual(["3", "2", "4"]);
  expect(near.edges).toEqual([
    { from: "2", to: "3" },
    { from: "3", to: "4" },
  ]);
  expect(near.more).toBe(true);
  expect(neighbourhood(tasks, "3", 2).more).toBe(false);
});

it("shows a dependency that there is no task of", () => {
  const near = neighbourhood([{ id: "1", status: "blocked", deps: ["9"] }], "1");
  expect(near.tasks[1]).toEqual({ id: "9", status: "unknown", title: "no such task" });
});

it("stops at cycles, and at the most it may show", () => {
  const ring = ["1", "2", "3"].map((id, at) => ({ id, status: "pending", deps: [["3", "1", "2"][at]!] }));
  expect(neighbourhood(ring, "1", 9).tasks).toHaveLength(3);
  const star = [
    { id: "0", status: "pending" },
    ...Array.from({ length: 99 }, (_, at) => ({ id: `t${at}`, status: "pending", deps: ["0"] })),
  ];
  const near = neighbourhood(star, "0", 2, 10);
  expect([near.tasks.length, near.more]).toEqual([10, true]);
});
