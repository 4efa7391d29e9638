import { expect, it } from "vitest";
import { closed, runningTotal, short, stack } from "./series.ts";

it("stacks the largest lowest, and puts the small ones together", () => {
  const stacked = stack(
    1_000,
    500,
    [
      { name: "a", tokens: [1, 0] },
      { name: "b", tokens: [5, 5] },
      { name: "c", tokens: [2, 0] },
    ],
    1,
  );
  expect(stacked.names).toEqual(["b", "all others"]);
  expect([stacked.times, stacked.end]).toEqual([[1, 1.5], 2]);
  expect(closed([8, 5])).toEqual([8, 5, 5]);
  expect(stacked.tops).toEqual([
    [5, 5],
    [8, 5],
  ]);
  expect(stacked.totals).toEqual([8, 5]);
  expect(stack(0, 1, []).totals).toEqual([]);
});

it("adds up, and says numbers short", () => {
  expect(runningTotal([1, 2, 3])).toEqual([1, 3, 6]);
  expect([short(999), short(12_400), short(2_500_000)]).toEqual(["999", "12.4k", "2.5M"]);
});
