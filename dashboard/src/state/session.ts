// The session of the page, which the daemon gave for a one-time code. The session is stored in sessionStorage, so
// that it survives a reload and ends with the tab. A new tab gets the session from an open tab.

import { computed, signal } from "@preact/signals";
import { ApiError, get, send, useCredentials } from "../api/client.ts";
import type { Session, SessionState } from "../api/types.ts";
import { at, formatRoute, parseRoute, route, team, visit } from "./route.ts";
import { settleClock } from "./clock.ts";
import { offer, request } from "./handover.ts";

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
/** True if the daemon no longer accepts the session. The shown data stays until there is a new session. */
export const signedOut = signal(false);
/** False if the last call got no answer. */
export const reachable = signal(true);
export const about = signal<SessionState | null>(null);
/** Number of sign-ins. Code that waits for a new session starts again when it changes. */
export const signIns = signal(0);

/** True for a session with access to all teams. Each call must then name the team. */
export const isRoot = computed(() => session.value !== null && session.value.team === null);
export const teams = computed<string[]>(() => about.value?.teams ?? session.value?.teams ?? []);
export const mayAct = computed(() => session.value?.scope === "act");
/** Reason why the session may not record now, or null if it may. */
export const whyNotAct = computed<string | null>(() => {
  if (signedOut.value) return "Signed out: sign in again to change something";
  if (at.value !== null) return "This shows the past: go back to now to change something";
  if (!mayAct.value) return "This session only reads: start teamlog dashboard with --act";
  return null;
});

useCredentials({
  token: () => session.peek()?.session ?? null,
  // Name the team even if the session is for one team, so that the daemon refuses the address of another team.
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

/** Content of a pasted text or of the fragment of an address. */
export interface Invitation {
  code: string;
  to: string | null;
  /** Address of the daemon if it differs from the address of the page. */
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
        // Accept only a daemon on this machine, because any other server would get the code.
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

/** Reads the daemon's description of the session. */
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
    // If the daemon is gone, the session has ended too.
  }
  forget();
};

const forget = (): void => {
  sessionStorage.removeItem(KEY);
  session.value = null;
  about.value = null;
  signedOut.value = false;
};

/** Returns the first route of a session: the requested route, else the session's team, else all teams. */
export const placeOf = (to: string | null, given: Session): string => {
  if (to !== null && to.startsWith("/t/")) return `#${to}`;
  if (given.team === null) return `#${to ?? "/"}`;
  return `#/t/${encodeURIComponent(given.team)}${to ?? "/crew"}`;
};

/** Removes the code from the address before anything else happens, and trades it. Returns an error text, or null. */
export const begin = async (): Promise<string | null> => {
  const invitation = location.hash.includes("code=") ? readInvitation(location.hash, location.origin) : null;
  offer(() => (signedOut.peek() ? null : session.peek()));
  if (invitation === null) {
    // Show the sign-in at once, so that the user does not wait if no other tab is open.
    if (session.peek() === null) void request(route.peek().team).then(adopt);
    await refresh();
    // The page shows no data yet, so a session that has ended can be removed.
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

/** Takes the session that another tab handed over, unless the user has signed in meanwhile. */
const adopt = async (given: Session | null): Promise<void> => {
  if (given === null || session.peek() !== null) return;
  keep(given);
  await refresh();
  if (signedOut.peek()) forget();
  settle(null);
};

const settle = (to: string | null): void => {
  const given = session.peek();
  if (given === null) return;
  const current = route.peek();
  const nowhere = current.team === "" && (given.team !== null || current.panel === "");
  if (to !== null || nowhere) visit(placeOf(to, given), true);
  else if (given.team !== null && current.team !== given.team) visit(placeOf(null, given), true);
};

/** Continues with a pasted text: a code, or the address that `teamlog dashboard` printed. */
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
