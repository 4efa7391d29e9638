import { expect, test } from "vitest";
import { byHealth, HEALTH, worstOf } from "./health.ts";

test("every health has a colour of its own, and the worst comes first", () => {
  expect(new Set(Object.values(HEALTH).map((look) => look.tone)).size).toBe(3);
  const checks = [
    { name: "a", status: "healthy" as const },
    { name: "b", status: "unhealthy" as const },
    { name: "c", status: "warn" as const },
  ];
  expect(byHealth(checks).map((check) => check.name)).toEqual(["b", "c", "a"]);
  expect(worstOf(checks)).toBe("unhealthy");
  expect(worstOf([])).toBe("healthy");
});
