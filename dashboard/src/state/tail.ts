// The events of the Live panel, newest first: pages of the log, and newer events of the stream before them. No event
// is missing or shown twice.

import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError, get } from "../api/client.ts";
import type { EventPage, LogEvent } from "../api/types.ts";
import { leftOut, matches, questionOf, type Filter } from "./filter.ts";
import { lastSeq, onEvents } from "./live.ts";

export const PAGE = 200;
const MOST_PAGES = 10;
/** Maximum number of events in memory. Older events are read again when the user scrolls to them. */
const MOST = 20_000;

export interface Tail {
  events: LogEvent[];
  /** Events that arrived while the list was paused, newest first. */
  fresh: LogEvent[];
  error: ApiError | null;
  loading: boolean;
  /** True if the log has more events before the oldest one in the list. */
  older: boolean;
  loadOlder: () => void;
  showFresh: () => void;
}

/** Puts events of the stream, oldest first, before the events of the list. */
export const inFront = (events: readonly LogEvent[], more: readonly LogEvent[]): LogEvent[] => {
  const newest = events[0]?.seq ?? 0;
  return [...more.filter((event) => event.seq > newest).reverse(), ...events];
};

interface Held {
  key: string;
  events: LogEvent[];
  fresh: LogEvent[];
  before: number | null;
  error: ApiError | null;
  loading: boolean;
}

const NOTHING: Omit<Held, "key"> = { events: [], fresh: [], before: null, error: null, loading: true };

interface TailOptions {
  team: string;
  filter: Filter;
  at: string | null;
  /** Seq of the event at which the list starts, or null for the newest event. */
  around: number | null;
  paused: boolean;
  /** Changes when the list must be read again. */
  again: number;
}

export const useTail = ({ team, filter, at, around, paused, again }: TailOptions): Tail => {
  const key = JSON.stringify([team, filter, at, around, again]);
  const [held, setHeld] = useState<Held>({ key, ...NOTHING });
  const still = useRef(paused);
  still.current = paused;
  const busy = useRef(false);
  const live = at === null && around === null;
  // The first page must be read after the start of the stream, because events in between would otherwise be missing.
  const ready = !live || lastSeq.value !== null;

  const ask = (before: number | null): Promise<EventPage> =>
    get<EventPage>("/v1/events", { ...questionOf(filter), order: "newest", limit: PAGE, before, at }).then((answer) => answer.data);
  const kept = (page: EventPage): LogEvent[] => page.events.filter((event) => !leftOut(filter, event));
  /** A page may be empty because no event passes the filter. Read some further pages then. */
  const askFurther = async (before: number | null): Promise<{ events: LogEvent[]; before: number | null; last: number }> => {
    const first = await ask(before);
    const events = kept(first);
    let next = first.next_before ?? null;
    for (let pages = 1; events.length === 0 && next !== null && pages < MOST_PAGES; pages += 1) {
      const page = await ask(next);
      events.push(...kept(page));
      next = page.next_before ?? null;
    }
    return { events, before: next, last: first.last_seq };
  };

  useEffect(() => {
    if (!ready) return;
    let stopped = false;
    let loaded = false;
    let early: LogEvent[] = [];
    busy.current = true;
    setHeld({ key, ...NOTHING });
    askFurther(around === null ? null : around + PAGE / 4).then(
      (page) => {
        busy.current = false;
        if (stopped) return;
        loaded = true;
        const late = early.filter((event) => event.seq > page.last);
        setHeld({ ...NOTHING, key, events: inFront(page.events, late), before: page.before, loading: false });
        early = [];
      },
      (error: unknown) => {
        busy.current = false;
        if (!stopped && error instanceof ApiError) setHeld({ key, ...NOTHING, error, loading: false });
      },
    );
    const end = live ? onEvents((events) => {
      const more = events.filter((event) => matches(filter, event));
      if (more.length === 0) return;
      if (!loaded) early.push(...more);
      else if (still.current) setHeld((old) => ({ ...old, fresh: inFront(old.fresh, more) }));
      else setHeld((old) => trimmed({ ...old, events: inFront(inFront(old.events, [...old.fresh].reverse()), more), fresh: [] }));
    }) : () => {};
    return () => {
      stopped = true;
      end();
    };
  }, [key, ready]);

  const loadOlder = (): void => {
    if (busy.current || held.before === null || held.key !== key) return;
    busy.current = true;
    askFurther(held.before).then(
      (page) => {
        busy.current = false;
        setHeld((old) => {
          if (old.key !== key) return old;
          const oldest = old.events.at(-1)?.seq ?? Number.POSITIVE_INFINITY;
          return { ...old, events: [...old.events, ...page.events.filter((event) => event.seq < oldest)], before: page.before, error: null };
        });
      },
      (error: unknown) => {
        busy.current = false;
        if (error instanceof ApiError) setHeld((old) => (old.key === key ? { ...old, error } : old));
      },
    );
  };

  const fits = held.key === key ? held : { key, ...NOTHING };
  return {
    events: fits.events,
    fresh: fits.fresh,
    error: fits.error,
    loading: fits.loading,
    older: fits.before !== null,
    loadOlder,
    showFresh: () => setHeld((old) => ({ ...old, events: inFront(old.events, [...old.fresh].reverse()), fresh: [] })),
  };
};

const trimmed = (held: Held): Held => {
  if (held.events.length <= MOST) return held;
  const events = held.events.slice(0, MOST);
  return { ...held, events, before: events.at(-1)?.seq ?? held.before };
};
