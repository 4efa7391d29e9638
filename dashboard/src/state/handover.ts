// Hands the session to another tab of this origin, for example after a click with Ctrl. Only open tabs exchange the
// session: it is never in an address, and never in storage that outlives a tab.

import type { Session } from "../api/types.ts";

const CHANNEL = "teamlog.session";
/** Time to wait for an answer. An open tab usually answers within a few milliseconds, but it may be busy. */
const WAIT = 5000;

interface Request {
  /** Random name of the request, which the answer repeats. */
  request: string;
  /** Team of the address. Empty on the page of all teams. */
  team: string;
}

interface Response {
  response: string;
  session: Session;
}

/** Returns true if the session shows the team of the request. */
export const fits = (session: Session, team: string): boolean => session.team === null || team === "" || session.team === team;

/** Answers the requests of other tabs with the session of this tab, if there is one. */
export const offer = (current: () => Session | null): void => {
  if (typeof BroadcastChannel === "undefined") return;
  const channel = new BroadcastChannel(CHANNEL);
  channel.onmessage = ({ data }: MessageEvent<Request | Response>) => {
    if (!("request" in data)) return;
    const session = current();
    if (session !== null && fits(session, data.team)) channel.postMessage({ response: data.request, session } satisfies Response);
  };
};

/** Asks the other tabs for a session. Returns null if none answers. */
export const request = (team: string): Promise<Session | null> => {
  if (typeof BroadcastChannel === "undefined") return Promise.resolve(null);
  const name = crypto.randomUUID();
  const channel = new BroadcastChannel(CHANNEL);
  return new Promise((done) => {
    const end = (session: Session | null): void => {
      clearTimeout(timer);
      channel.close();
      done(session);
    };
    const timer = setTimeout(() => end(null), WAIT);
    channel.onmessage = ({ data }: MessageEvent<Request | Response>) => {
      if ("response" in data && data.response === name) end(data.session);
    };
    channel.postMessage({ request: name, team } satisfies Request);
  });
};
