// Holds the page's own types against the daemon's document: whatever the daemon may answer, the page has to take. It is
// compiled only, with `dist/schema.d.ts` made of that document (`npm run agree`).

import type { paths } from "../dist/schema.d.ts";
import type * as Page from "../src/api/types.ts";

type Method = "get" | "post";
/** A field that may be left out is left out rather than null, which the document cannot say. */
type Told<T> = T extends readonly (infer E)[]
  ? Told<E>[]
  : T extends object
    ? { [K in keyof T]: undefined extends T[K] ? Told<Exclude<T[K], null>> : Told<T[K]> }
    : T;
/** What a call answers where it succeeds. */
type Answer<P extends keyof paths, M extends Method = "get"> = paths[P][M] extends { responses: infer Responses }
  ? { [S in keyof Responses & (200 | 201)]: Responses[S] extends { content: { "application/json": infer Body } } ? Body : never }[keyof Responses & (200 | 201)]
  : never;

/** Compiles only where what the daemon answers is what the page reads. */
type Takes<Read, Said extends Read> = [Read, Said];

export type Agreed = [
  Takes<Page.TaskPage, Told<Answer<"/v1/tasks">>>,
  Takes<{ task: Page.Task }, Told<Answer<"/v1/tasks/{taskId}">>>,
  Takes<Page.EventPage, Told<Answer<"/v1/events">>>,
  Takes<Page.Who, Told<Answer<"/v1/who">>>,
  Takes<Page.Usage, Told<Answer<"/v1/usage">>>,
  Takes<Page.Status, Told<Answer<"/v1/status">>>,
  Takes<Page.Attention, Told<Answer<"/v1/attention">>>,
  Takes<Page.RootTeams, Told<Answer<"/v1/root/teams">>>,
  Takes<Page.Verification, Told<Answer<"/v1/verify">>>,
  Takes<Page.Examination, Told<Answer<"/v1/doctor">>>,
  Takes<Page.Session, Told<Answer<"/v1/session", "post">>>,
  Takes<Page.SessionState, Told<Answer<"/v1/session">>>,
];
