import { describe, expect, it } from "vitest";
import { changedRoute, formatRoute, parseRoute, type Route } from "./route.ts";

const HERE: Route = { team: "demo", panel: "live", rest: [], query: { actor: "cyd", at: "9" } };

describe("addresses", () => {
  it("come back as they were, whatever names hold", () => {
    const routes: Route[] = [
      HERE,
      { team: "", panel: "", rest: [], query: {} },
      { team: "a.b", panel: "task", rest: ["x/y?z#ü %2F"], query: { q: "a&b=c d+e", not: "kind:task_created,actor:b%2Cc" } },
    ];
    for (const route of routes) expect(parseRoute(formatRoute(route))).toEqual(route);
  });

  it("lead to the crew where no panel is named", () => {
    expect(parseRoute("#/t/demo")).toEqual({ team: "demo", panel: "crew", rest: [], query: {} });
  });

  it("are read as they stand where they are not well formed", () => {
    expect(parseRoute("#/t/demo/task/%E0%A4%A").rest).toEqual(["%E0%A4%A"]);
  });
});

describe("changes", () => {
  it("keep the query within a panel, and add to it", () => {
    expect(changedRoute(HERE, { query: { task: 3 } }).query).toEqual({ actor: "cyd", at: "9", task: "3" });
    expect(changedRoute(HERE, { query: { actor: undefined } }).query).toEqual({ at: "9" });
  });

  it("take only the point in time along to another panel", () => {
    expect(changedRoute(HERE, { panel: "board" })).toEqual({ team: "demo", panel: "board", rest: [], query: { at: "9" } });
  });

  it("take nothing along to another team, whose events are others", () => {
    expect(changedRoute(HERE, { team: "other", panel: "live" }).query).toEqual({});
  });
});
