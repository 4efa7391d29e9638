// Mistakes that the types of the client find. `tsc` fails if one of these lines is accepted.

import type { Teamlog } from "teamlog-client";

export const mistakes = (team: Teamlog): unknown[] => [
  // @ts-expect-error: no such path
  team.get("/v1/nothing"),
  // @ts-expect-error: the path needs its parameter
  team.get("/v1/tasks/{taskId}"),
  // @ts-expect-error: no such parameter
  team.get("/v1/tasks", { query: { nope: 1 } }),
  // @ts-expect-error: no such field
  team.post("/v1/tasks", { body: { titel: "x" } }),
  // @ts-expect-error: a field is missing
  team.call("send-message", { from_worker: "ada" }),
  // @ts-expect-error: no such field in the answer
  team.call("list-tasks").then((answer) => answer.data.nope),
  // @ts-expect-error: the team is that of the connection
  team.post("/v1/tasks", { body: { title: "x" }, query: { teamId: "demo" } }),
];
