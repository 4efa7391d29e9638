// Work that the daemon does in the background. The page starts the work and polls until the work is done.

import { useState } from "preact/hooks";
import { at } from "../../state/route.ts";
import { signedOut } from "../../state/session.ts";
import type { Query } from "../../state/query.ts";
import { send, useRead } from "../page.tsx";

export interface Job {
  state: "never" | "running" | "done";
  started_at?: string;
  finished_at?: string;
  /** Reason why the work could not be carried out. */
  failure?: string;
}

export interface JobRead<T> {
  query: Query<T>;
  error: unknown;
  running: boolean;
  /** Reason why the work cannot be started now. */
  why: string | null;
  start: () => void;
}

/** Returns the job at a path. Every session may start it, because reading every byte changes nothing. */
export const useJob = <T extends Job>(path: string): JobRead<T> => {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const [fast, setFast] = useState(false);
  const query = useRead<T>(path, {}, { always: true, every: fast ? 400 : 5000 });
  const running = busy || query.data?.state === "running";
  if (running !== fast) setFast(running);
  const why = signedOut.value
    ? "Signed out: sign in again to start it"
    : at.value !== null
      ? "This shows the past: go back to now to start it"
      : null;
  const start = (): void => {
    setBusy(true);
    setError(null);
    void send<T>(path, {})
      .catch((thrown: unknown) => setError(thrown))
      .finally(() => {
        setBusy(false);
        query.reload();
      });
  };
  return { query, error, running, why, start };
};
