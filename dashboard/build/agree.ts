// Checks that the page's types accept every answer that the daemon's OpenAPI document allows. This file is only compiled, with
// `dist/schema.d.ts`, which is generated from that document (`npm run agree`).

import type { paths } from "../dist/schema.d.ts";
import type * as Page from "../src/api/types.ts";

type Method = "get" | "post";
/** Removes `null` from optional fields. The daemon leaves out an empty optional field, but the document cannot express this. */
type Told<T> = T extends readonly (infer E)[]
  ? Told<E>[]
  : T extends object
    ? { [K in keyof T]: undefined extends T[K] ? Told<Exclude<T[K], null>> : Told<T[K]> }
    : T;
/** Body of a successful answer. */
type Answer<P extends keyof paths, M extends Method = "get"> = paths[P][M] extends { responses: infer Responses }
  ? { [S in keyof Responses & (200 | 201)]: Responses[S] extends { content: { "application/json": infer Body } } ? Body : never }[keyof Responses & (200 | 201)]
  : never;

/** Compiles only if the daemon's answer has the type that the page reads. */
type Takes<Read, Said extends Read> = [Read, Said];

export type Agreed = [
  Takes<Page.TaskPage, Told<Answer<"/v1/tasks">>>,
  Takes<{ task: Page.Task }, Told<Answer<"/v1/tasks/{taskId}">>>,
  Takes<Page.SearchPage, Told<Answer<"/v1/search">>>,
  Takes<Page.EventPage, Told<Answer<"/v1/events">>>,
  Takes<Page.Who, Told<Answer<"/v1/who">>>,
  Takes<Page.Usage, Told<Answer<"/v1/usage">>>,
  Takes<Page.Status, Told<Answer<"/v1/status">>>,
  Takes<Page.Attention, Told<Answer<"/v1/attention">>>,
  Takes<Page.RootTeams, Told<Answer<"/v1/root/teams">>>,
  Takes<Page.Verification, Told<Answer<"/v1/verify">>>,
  Takes<Page.Examination, Told<Answer<"/v1/doctor">>>,
  Takes<Page.ProjectionList, Told<Answer<"/v1/projections">>>,
  Takes<Page.ProjectionStates, Told<Answer<"/v1/projections/{name}">>>,
  Takes<Page.Session, Told<Answer<"/v1/session", "post">>>,
  Takes<Page.SessionState, Told<Answer<"/v1/session">>>,
];
