// Who looks at the page, and for how long: a session that the daemon gave for a one-time code. It lives in sessionStorage,
// so that a reload keeps it and closing the tab ends it.

import { computed, signal } from "@preact/signals";
import { ApiError, get, send, useCredentials } from "../api/client.ts";
import type { Session, SessionState } from "../api/types.ts";
import { at, formatRoute, parseRoute, route, team, visit } from "./route.ts";
import { settleClock } from "./clock.ts";

const KEY = "teamlog.session";

const stored = (): Session | null => {
  try {
    const text = sessionStorage.getItem(KEY);
    return text === null ? null : (JSON.parse(text) as Session);
  } catch {
    return null;
  }
};

export const session = signal<Session | null>(typeof sessionStorage === "undefined" ? null : stored());
/** The daemon does not take the session any more; what was shown stays, until there is a new one. */
export const signedOut = signal(false);
/** Whether the last call was answered at all. */
export const reachable = signal(true);
export const about = signal<SessionState | null>(null);
/** Counts sign-ins, so that what waits for one begins anew. */
export const signIns = signal(0);

/** A session of the whole data root, which names the team in each call. */
export const isRoot = computed(() => session.value !== null && session.value.team === null);
export const teams = computed<string[]>(() => about.value?.teams ?? session.value?.teams ?? []);
export const mayAct = computed(() => session.value?.scope === "act");
/** Whether something may be recorded now; if not, why. */
export const whyNotAct = computed<string | null>(() => {
  if (signedOut.value) return "Signed out: sign in again to change something";
  if (at.value !== null) return "This shows the past: go back to now to change something";
  if (!mayAct.value) return "This session only reads: start teamlog dashboard with --act";
  return null;
});

useCredentials({
  token: () => session.peek()?.session ?? null,
  // Also where the session is of one team: the daemon then refuses what an address names that is of another.
  teamId: () => team.peek() || null,
  refused: () => {
    signedOut.value = true;
  },
  reached: (yes) => {
    reachable.value = yes;
  },
});

const keep = (given: Session): void => {
  session.value = given;
  sessionStorage.setItem(KEY, JSON.stringify(given));
  signedOut.value = false;
  signIns.value += 1;
};

/** What a pasted text or the fragment of an address holds. */
export interface Invitation {
  code: string;
  to: string | null;
  /** The daemon's address where it is another than the page's. */
  origin: string | null;
}

export const readInvitation = (text: string, here: string): Invitation | null => {
  const trimmed = text.trim();
  const mark = trimmed.indexOf("#");
  if (mark >= 0) {
    const fields = new URLSearchParams(trimmed.slice(mark + 1));
    const code = fields.get("code");
    if (code === null || code === "") return null;
    let origin: string | null = null;
    if (mark > 0) {
      try {
        const url = new URL(trimmed.slice(0, mark));
        // Only a daemon on this machine may be gone to: anything else pasted here would be given the code.
        if (url.protocol !== "http:" || !["127.0.0.1", "localhost", "[::1]"].includes(url.hostname)) return null;
        origin = url.origin === here ? null : url.origin;
      } catch {
        return null;
      }
    }
    return { code, to: fields.get("to"), origin };
  }
  return /^[A-Za-z0-9._~-]{8,}$/.test(trimmed) ? { code: trimmed, to: null, origin: null } : null;
};

/** Trades a one-time code for a session. */
export const signIn = async (code: string): Promise<void> => {
  const response = await send("/v1/session", {}, {
    method: "POST",
    body: "{}",
    headers: { Authorization: `Bearer ${code}`, "Content-Type": "application/json" },
  });
  keep((await response.json()) as Session);
  await refresh();
};

/** Reads what the daemon says of the session. */
export const refresh = async (): Promise<void> => {
  if (session.peek() === null) return;
  try {
    const asked = Date.now();
    const { data } = await get<SessionState>("/v1/session");
    settleClock(data.now, asked, Date.now());
    about.value = data;
    signedOut.value = false;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
  }
};

export const signOut = async (): Promise<void> => {
  try {
    await send("/v1/session/end", {}, { method: "POST", body: "{}", headers: { "Content-Type": "application/json" } });
  } catch {
    // The daemon may be gone; then so is the session.
  }
  forget();
};

const forget = (): void => {
  sessionStorage.removeItem(KEY);
  session.value = null;
  about.value = null;
  signedOut.value = false;
};

/** Where a session begins to look: the place that was asked for, else its team, else all teams. */
export const placeOf = (to: string | null, given: Session): string => {
  if (to !== null && to.startsWith("/t/")) return `#${to}`;
  if (given.team === null) return `#${to ?? "/"}`;
  return `#/t/${encodeURIComponent(given.team)}${to ?? "/crew"}`;
};

/** Takes the code out of the address before anything else happens, and trades it. Gives what went wrong, if something did. */
export const begin = async (): Promise<string | null> => {
  const invitation = location.hash.includes("code=") ? readInvitation(location.hash, location.origin) : null;
  if (invitation === null) {
    await refresh();
    // Nothing is shown yet that would have to stay, so a session that has ended is no better than none.
    if (signedOut.peek()) forget();
    settle(null);
    return null;
  }
  history.replaceState(null, "", `${location.pathname}${location.search}`);
  route.value = parseRoute("");
  try {
    await signIn(invitation.code);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  settle(invitation.to);
  return null;
};

const settle = (to: string | null): void => {
  const given = session.peek();
  if (given === null) return;
  const current = route.peek();
  const nowhere = current.team === "" && (given.team !== null || current.panel === "");
  if (to !== null || nowhere) visit(placeOf(to, given), true);
  else if (given.team !== null && current.team !== given.team) visit(placeOf(null, given), true);
};

/** Goes on with what was pasted: a code, or the address that `teamlog dashboard` printed. */
export const resume = async (text: string): Promise<string | null> => {
  const invitation = readInvitation(text, location.origin);
  if (invitation === null) return "That is neither a code nor an address that teamlog dashboard printed.";
  if (invitation.origin !== null) {
    const to = formatRoute(route.peek()).slice(1);
    location.assign(`${invitation.origin}/#code=${encodeURIComponent(invitation.code)}&to=${encodeURIComponent(to)}`);
    return null;
  }
  try {
    await signIn(invitation.code);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  if (parseRoute(location.hash).team === "") settle(invitation.to);
  return null;
};
