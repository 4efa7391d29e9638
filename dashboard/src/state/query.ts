// Answers of the daemon that a panel shows. After an event that may change an answer, the page reads the answer
// again. The page computes nothing that the daemon can answer.

import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError, get, type Params } from "../api/client.ts";
import type { LogEvent } from "../api/types.ts";
import { onEvents } from "./live.ts";
import { at, team } from "./route.ts";
import { session, signIns } from "./session.ts";

/**
 * Events that make an answer outdated: kinds (`task_` matches all kinds that begin with it), a function, or all
 * events.
 */
export type Matter = readonly string[] | ((event: LogEvent) => boolean) | "any";

export interface QueryOptions {
  on?: Matter;
  /** Interval in milliseconds for reading again, for answers that change without an event. */
  every?: number;
  /** True if the answer does not depend on the time slider. */
  always?: boolean;
}

export interface Query<T> {
  data: T | null;
  error: ApiError | null;
  loading: boolean;
  /** Seq of the state in the answer, if the slider is in the past. */
  at: number | null;
  reload: () => void;
}

const QUIET = 120;
const LONGEST = 800;

export const matters = (matter: Matter | undefined, event: LogEvent): boolean => {
  if (matter === undefined) return false;
  if (matter === "any") return true;
  if (typeof matter === "function") return matter(event);
  return matter.some((kind) => (kind.endsWith("_") ? event.kind.startsWith(kind) : event.kind === kind));
};

/** Calls a function after a pause between calls of `touch`. If there is no pause, calls it after `LONGEST` milliseconds. */
export const settled = (call: () => void): { touch: () => void; stop: () => void } => {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let since = 0;
  const fire = (): void => {
    timer = undefined;
    call();
  };
  return {
    touch() {
      const time = Date.now();
      if (timer === undefined) since = time;
      else clearTimeout(timer);
      timer = setTimeout(fire, Math.max(0, Math.min(QUIET, since + LONGEST - time)));
    },
    stop() {
      clearTimeout(timer);
      timer = undefined;
    },
  };
};

/** Reads `path`, or nothing if it is null. The previous answer is kept while the path is read again. */
export const useQuery = <T>(path: string | null, params: Params = {}, options: QueryOptions = {}): Query<T> => {
  const point = options.always === true ? null : at.value;
  const asked = point === null ? params : { ...params, at: point };
  const key = path === null ? "" : JSON.stringify([team.value, path, asked]);
  const [state, setState] = useState<{ key: string; data: T | null; error: ApiError | null; loading: boolean; at: number | null }>({
    key: "",
    data: null,
    error: null,
    loading: true,
    at: null,
  });
  const reload = useRef<() => void>(() => {});
  const matter = useRef(options.on);
  matter.current = options.on;
  const signedIn = signIns.value;
  const absent = session.value === null;

  useEffect(() => {
    if (path === null || absent) return;
    let stopped = false;
    let running = false;
    let again = false;
    const stop = new AbortController();
    const read = async (): Promise<void> => {
      if (running) {
        again = true;
        return;
      }
      running = true;
      try {
        const answer = await get<T>(path, asked, stop.signal);
        if (!stopped) setState({ key, data: answer.data, error: null, loading: false, at: answer.at });
      } catch (error) {
        if (!stopped && error instanceof ApiError) {
          // Keep the previous answer while the daemon is away. A refusal replaces it.
          const keep = error.status === 0 || error.status === 401 || error.status >= 500;
          setState((old) => ({ key, data: keep && old.key === key ? old.data : null, error, loading: false, at: null }));
        }
      } finally {
        running = false;
        if (again && !stopped) {
          again = false;
          void read();
        }
      }
    };
    setState((old) => (old.key === key ? { ...old, loading: true } : { key, data: null, error: null, loading: true, at: null }));
    reload.current = () => void read();
    void read();
    const soon = settled(() => void read());
    const end = point === null ? onEvents((events) => {
      if (events.some((event) => matters(matter.current, event))) soon.touch();
    }) : () => {};
    const timer = options.every !== undefined && point === null ? setInterval(() => void read(), options.every) : undefined;
    return () => {
      stopped = true;
      stop.abort();
      soon.stop();
      end();
      clearInterval(timer);
    };
  }, [key, signedIn, absent, options.every]);

  const fits = state.key === key;
  return {
    data: fits ? state.data : null,
    error: fits ? state.error : null,
    loading: !fits || state.loading,
    at: fits ? state.at : null,
    reload: () => reload.current(),
  };
};
