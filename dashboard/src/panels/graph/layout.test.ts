import { expect, it } from "vitest";
import { curve, placeGraph } from "./layout.ts";

it("places what leads on to the right of what it comes from", () => {
  const box = { width: 80, height: 30 };
  const placed = placeGraph(
    [
      { id: "a", ...box },
      { id: "b", ...box },
      { id: "c", ...box },
    ],
    [
      { from: "a", to: "b" },
      { from: "b", to: "c", label: "go" },
      { from: "a", to: "nowhere" },
      { from: "a", to: "b" },
    ],
  );
  const x = placed.nodes.map((node) => node.x);
  expect(x[0]! < x[1]! && x[1]! < x[2]!).toBe(true);
  expect(placed.edges.map((edge) => edge.to)).toEqual(["b", "c"]);
  expect(placed.width).toBeGreaterThan(240);
});

it("draws loops, and two steps between the same states", () => {
  const placed = placeGraph(
    [{ id: "a", width: 80, height: 30 }],
    [
      { from: "a", to: "a", label: "x" },
      { from: "a", to: "a", label: "y" },
    ],
  );
  expect(placed.edges).toHaveLength(2);
});

it("curves through the middles", () => {
  expect(curve([])).toBe("");
  expect(
    curve([
      { x: 0, y: 0 },
      { x: 10, y: 0 },
      { x: 20, y: 10 },
    ]),
  ).toBe("M0 0Q10 0 15 5L20 10");
});
