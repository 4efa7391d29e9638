// One address for each state of the page: `#/t/TEAM/PANEL/rest…?query`. Back and a reload give the same page again.

import { computed, signal } from "@preact/signals";

export interface Route {
  /** Empty for the page of all teams. */
  team: string;
  panel: string;
  /** What stands behind the panel, such as a task id. */
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

/** Slashes and the like are escaped, what people read is not. */
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
  /** Undefined or empty values leave the address; others are added to what stands there. */
  query?: Record<string, string | number | undefined>;
}

/** The route after a change. Another panel or team drops the query, but for `at`, which goes with the reader. */
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

/** The seq or time that everything is shown as of, or null for now. */
export const at = computed<string | null>(() => route.value.query["at"] ?? null);

/** The address of a change from here, for links. */
export const hrefOf = (change: RouteChange): string => formatRoute(changedRoute(route.value, change));

/** Goes there. `replace` is for what Back should not stop at, such as each letter of a search. */
export const go = (change: RouteChange, replace = false): void => visit(hrefOf(change), replace);

export const visit = (hash: string, replace = false): void => {
  if (hash === location.hash) return;
  history[replace ? "replaceState" : "pushState"](null, "", hash);
  route.value = parseRoute(hash);
};

export const setAt = (value: string | number | null, replace = false): void =>
  go({ query: { at: value === null ? undefined : value } }, replace);

if (typeof window !== "undefined") {
  // A change by hand gives hashchange, Back gives popstate too; both read what stands there.
  const read = (): void => {
    if (location.hash !== formatRoute(route.value)) route.value = parseRoute(location.hash);
  };
  window.addEventListener("popstate", read);
  window.addEventListener("hashchange", read);
}
