// The address of the page: `#/t/TEAM/PANEL/rest…?query`. Every state of the page has an address, so Back and reload
// show the state again.

import { computed, signal } from "@preact/signals";

export interface Route {
  /** Name of the team. Empty on the page of all teams. */
  team: string;
  panel: string;
  /** Parts of the address after the panel, such as a task id. */
  rest: string[];
  query: Record<string, string>;
}

const decoded = (part: string): string => {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
};

/** Escapes slashes and similar characters, but not characters that keep the address readable. */
const encoded = (part: string): string => encodeURIComponent(part).replaceAll("%3A", ":").replaceAll("%2C", ",").replaceAll("%40", "@");

export const parseRoute = (hash: string): Route => {
  const text = hash.replace(/^#/, "");
  const mark = text.indexOf("?");
  const path = mark < 0 ? text : text.slice(0, mark);
  const query: Record<string, string> = {};
  for (const [name, value] of new URLSearchParams(mark < 0 ? "" : text.slice(mark + 1))) query[name] = value;
  const parts = path.split("/").filter((part) => part !== "").map(decoded);
  if (parts[0] === "t" && parts[1] !== undefined) {
    return { team: parts[1], panel: parts[2] ?? "crew", rest: parts.slice(3), query };
  }
  return { team: "", panel: parts[0] ?? "", rest: parts.slice(1), query };
};

export const formatRoute = (route: Route): string => {
  const path = route.team === "" ? [route.panel, ...route.rest] : ["t", route.team, route.panel, ...route.rest];
  const query = Object.entries(route.query)
    .filter(([, value]) => value !== "")
    .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
    .join("&");
  return `#/${path.filter((part) => part !== "").map(encoded).join("/")}${query === "" ? "" : `?${query}`}`;
};

export interface RouteChange {
  team?: string;
  panel?: string;
  rest?: string[];
  /** Changes of the query. Undefined and empty values are removed, other values are added. */
  query?: Record<string, string | number | undefined>;
}

/** Returns the route after a change. Another panel or team drops the query except `at`. */
export const changedRoute = (from: Route, change: RouteChange): Route => {
  const team = change.team ?? from.team;
  const elsewhere = team !== from.team || (change.panel !== undefined && change.panel !== from.panel);
  const query: Record<string, string> = {};
  const kept = team !== from.team ? [] : elsewhere ? Object.entries(from.query).filter(([name]) => name === "at") : Object.entries(from.query);
  for (const [name, value] of kept) query[name] = value;
  for (const [name, value] of Object.entries(change.query ?? {})) {
    if (value === undefined || value === "") delete query[name];
    else query[name] = String(value);
  }
  return {
    team,
    panel: change.panel ?? from.panel,
    rest: change.rest ?? (elsewhere ? [] : from.rest),
    query,
  };
};

const here = (): string => (typeof location === "undefined" ? "" : location.hash);

export const route = signal<Route>(parseRoute(here()));
export const team = computed(() => route.value.team);

/** The past point (seq or time) that the page shows, or null for the present. */
export const at = computed<string | null>(() => route.value.query["at"] ?? null);

/** Returns the address after a change of the current route, for links. */
export const hrefOf = (change: RouteChange): string => formatRoute(changedRoute(route.value, change));

/** Changes the route. With `replace`, there is no new step for the Back button, for example while typing a search. */
export const go = (change: RouteChange, replace = false): void => visit(hrefOf(change), replace);

export const visit = (hash: string, replace = false): void => {
  if (hash === location.hash) return;
  history[replace ? "replaceState" : "pushState"](null, "", hash);
  route.value = parseRoute(hash);
};

export const setAt = (value: string | number | null, replace = false): void =>
  go({ query: { at: value === null ? undefined : value } }, replace);

if (typeof window !== "undefined") {
  // A change by the user fires hashchange, and Back also fires popstate. Both read the current address.
  const read = (): void => {
    if (location.hash !== formatRoute(route.value)) route.value = parseRoute(location.hash);
  };
  window.addEventListener("popstate", read);
  window.addEventListener("hashchange", read);
}
