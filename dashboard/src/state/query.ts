// What a panel shows is an answer of the daemon, read again when an event comes that may change it. The page folds nothing
// that the daemon can tell.

import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError, get, type Params } from "../api/client.ts";
import type { LogEvent } from "../api/types.ts";
import { onEvents } from "./live.ts";
import { at, team } from "./route.ts";
import { session, signIns } from "./session.ts";

/** Which events make an answer old: kinds (`task_` takes all that begin so), or a question, or all of them. */
export type Matter = readonly string[] | ((event: LogEvent) => boolean) | "any";

export interface QueryOptions {
  on?: Matter;
  /** Read again after so many milliseconds, for what changes without an event. */
  every?: number;
  /** The answer does not depend on the slider. */
  always?: boolean;
}

export interface Query<T> {
  data: T | null;
  error: ApiError | null;
  loading: boolean;
  /** The seq that the answer is as of, where the slider is in the past. */
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

/** Calls once it has been quiet for a moment, and now and then while it is not. */
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

/** Reads `path`, or nothing while it is null. What was read stays while the same is read again. */
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
          // What was shown stays while the daemon is away; a refusal replaces it.
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
