// Reads a trace whole: the newest page first, so that something stands there at once, then the older ones.

import { useEffect, useMemo, useReducer, useRef, useState } from "preact/hooks";
import { settled } from "../../state/query.ts";
import { onEvents } from "../../state/live.ts";
import { read } from "../page.tsx";
import { joinPages, storyOf, type Story, type TracePage } from "./story.ts";

const PAGE = 1000;
const MOST = 20;

export interface TraceRead {
  story: Story | null;
  error: unknown;
  /** Whether older pages are on their way. */
  loading: boolean;
  /** Whether there are more than are read by themselves. */
  older: (() => void) | null;
}

/** The trace of that id as of `at`, read again when the team's log grows. */
export function useTrace(traceId: string, at: string | null): TraceRead {
  const [pages, setPages] = useState<TracePage[]>([]);
  const [error, setError] = useState<unknown>(null);
  const [loading, setLoading] = useState(true);
  const [most, setMost] = useState(MOST);
  const [newest, grow] = useReducer<number, void>((count) => count + 1, 0);
  const readFor = useRef("");

  useEffect(() => {
    if (at !== null) return;
    const soon = settled(() => grow());
    const end = onEvents((events) => {
      if (events.some((event) => event.trace_id === traceId)) soon.touch();
    });
    return () => {
      soon.stop();
      end();
    };
  }, [traceId, at]);

  useEffect(() => {
    const stop = new AbortController();
    const same = readFor.current === `${traceId} ${at}`;
    readFor.current = `${traceId} ${at}`;
    if (!same) setPages([]);
    setLoading(true);
    void (async () => {
      const fresh: TracePage[] = [];
      let cursor: string | null = null;
      do {
        const query: Record<string, string | number | null> = { limit: PAGE, cursor, at };
        const page: TracePage = await read<TracePage>(`/v1/trace/${encodeURIComponent(traceId)}`, query, stop.signal);
        fresh.push(page);
        cursor = page.next_cursor;
        // While it is read again what stood there stays, until as much is there again.
        if (!same || cursor === null) setPages([...fresh]);
      } while (cursor !== null && fresh.length < most);
      setPages(fresh);
      setError(null);
      setLoading(false);
    })().catch((failure: unknown) => {
      if (stop.signal.aborted) return;
      setError(failure);
      setLoading(false);
    });
    return () => stop.abort();
  }, [traceId, at, most, newest]);

  const joined = useMemo(() => (pages.length > 0 ? joinPages(pages) : null), [pages]);
  const story = useMemo(() => (joined ? storyOf(joined) : null), [joined]);
  const hasOlder = !loading && joined?.next_cursor != null;
  return { story, error, loading, older: hasOlder ? () => setMost(most + MOST) : null };
}
