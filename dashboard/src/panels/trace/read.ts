// Reads a whole trace. The newest page is read first, so that something is shown quickly; older pages follow.

import { useEffect, useMemo, useReducer, useRef, useState } from "preact/hooks";
import { settled } from "../../state/query.ts";
import { onEvents } from "../../state/live.ts";
import { signIns } from "../../state/session.ts";
import { read } from "../page.tsx";
import { joinPages, refreshed } from "./pages.ts";
import { storyOf, type Story, type TracePage } from "./story.ts";

const PAGE = 1000;
const MOST = 20;

export interface TraceRead {
  story: Story | null;
  error: unknown;
  /** True while older pages are being read. */
  loading: boolean;
  /** Reads further pages. Null if all pages were read or will be read automatically. */
  older: (() => void) | null;
}

/** Reads the trace with this id at the point `at`. Reads it again when the team's log grows. */
export function useTrace(traceId: string, at: string | null): TraceRead {
  const [pages, setPages] = useState<TracePage[]>([]);
  const [error, setError] = useState<unknown>(null);
  const [loading, setLoading] = useState(true);
  const [most, setMost] = useState(MOST);
  const [grown, grow] = useReducer<number, void>((count) => count + 1, 0);
  const readFor = useRef("");
  const held = useRef<TracePage[]>([]);

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
    const key = `${traceId} ${at}`;
    const known = readFor.current === key ? held.current : [];
    readFor.current = key;
    const keep = (next: TracePage[]): void => {
      held.current = next;
      setPages(next);
    };
    if (known.length === 0) keep([]);
    setLoading(true);
    const page = (cursor: string | null): Promise<TracePage> =>
      read<TracePage>(`/v1/trace/${encodeURIComponent(traceId)}`, { limit: PAGE, cursor, at }, stop.signal);
    void (async () => {
      const newest = await page(null);
      let next = refreshed(known, newest) ?? [newest];
      let cursor = joinPages(next).next_cursor;
      keep(next);
      while (cursor !== null && next.length < most) {
        const older = await page(cursor);
        next = [...next, older];
        cursor = older.next_cursor;
        keep(next);
      }
      setError(null);
      setLoading(false);
    })().catch((failure: unknown) => {
      if (stop.signal.aborted) return;
      setError(failure);
      setLoading(false);
    });
    return () => stop.abort();
  }, [traceId, at, most, grown, signIns.value]);

  const joined = useMemo(() => (pages.length > 0 ? joinPages(pages) : null), [pages]);
  const story = useMemo(() => (joined ? storyOf(joined) : null), [joined]);
  const hasOlder = !loading && joined?.next_cursor != null;
  return { story, error, loading, older: hasOlder ? () => setMost(most + MOST) : null };
}
