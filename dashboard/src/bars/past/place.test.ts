import { expect, it } from "vitest";
import { moved, seqOf, tickSeqs } from "./place.ts";

it("moves by one, by ten, by a page, and to both ends", () => {
  expect(moved("ArrowLeft", 9, 11, false)).toBe(8);
  expect(moved("ArrowLeft", 1, 11, false)).toBe(1);
  expect(moved("ArrowRight", 9, 11, false)).toBe(10);
  expect(moved("ArrowRight", 10, 11, false)).toBe("now");
  expect(moved("ArrowLeft", 99, 400, true)).toBe(89);
  expect(moved("PageDown", 99, 400, false)).toBe(79);
  expect(moved("Home", 9, 11, false)).toBe(1);
  expect(moved("End", 9, 11, false)).toBe("now");
  expect(moved("x", 9, 11, false)).toBeNull();
});

it("knows a seq from a time, and spreads ticks", () => {
  expect([seqOf("9"), seqOf("2026-11-25T10:00:00Z"), seqOf(null)]).toEqual([9, null, null]);
  expect(tickSeqs(11, 3)).toEqual([1, 6, 11]);
  expect(tickSeqs(2, 6)).toEqual([1, 2]);
  expect(tickSeqs(0, 6)).toEqual([]);
});
