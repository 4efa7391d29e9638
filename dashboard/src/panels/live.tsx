// The newest events of the log as they are recorded.

import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { JSX } from "preact";
import type { LogEvent } from "../api/types.ts";
import { useKeys } from "../shell/keys.ts";
import { dropped, FIELDS, messageType, optionsOf, picked, readFilter, writeFilter, type Field, type Filter } from "../state/filter.ts";
import { at, go, route, team } from "../state/route.ts";
import { signIns } from "../state/session.ts";
import { PAGE, useTail } from "../state/tail.ts";
import { commandOf, readingOf } from "../ui/command.tsx";
import { EventValue } from "../ui/event.tsx";
import { Chip, countOf, Empty, Failure, Link, Loading, Panel } from "../ui/parts.tsx";
import { jsonOf, Text } from "../ui/text.tsx";
import { Time } from "../ui/time.tsx";
import { VirtualList } from "../ui/virtual.tsx";
import type { PanelEntry } from "./index.ts";
import "../style/live.css";

const LINE = 29;

/** Returns the command that prints the events of the list. Around an event, the list ends at its newest event. */
const commandFor = (filter: Filter, events: readonly LogEvent[], around: number | null): string => {
  const command = ["log", "TEAM", "-n", Math.max(PAGE, events.length), ...optionsOf(filter)];
  const newest = events[0];
  if (around !== null && newest !== undefined) return commandOf(...command, "--at", newest.seq);
  return at.value === null ? commandOf(...command, "-f") : readingOf(...command);
};

interface LineProps {
  event: LogEvent;
  open: boolean;
  focused: boolean;
  onOpen: () => void;
  onPick: (field: Field, value: string, out: boolean) => void;
}

const Line = ({ event, open, focused, onOpen, onPick }: LineProps): JSX.Element => (
  <div class={focused ? "log-event focused" : "log-event"} data-seq={event.seq}>
    <div class="event-line">
      <button type="button" class="seq" aria-expanded={open} title={open ? "Close" : "Show the whole event"} onClick={onOpen}>#{event.seq}</button>
      <span class="when"><Time value={event.created_at} exact /></span>
      <EventValue event={event} field="actor" onPick={onPick} />
      <span class="refs"><EventValue event={event} field="kind" onPick={onPick} /><EventValue event={event} field="type" onPick={onPick} /></span>
      <span class="refs">
        <EventValue event={event} field="task" before="task " onPick={onPick} />
        {event.agent !== event.actor && <EventValue event={event} field="agent" before="→ " onPick={onPick} />}
        <EventValue event={event} field="trace" before="trace " onPick={onPick} />
      </span>
      <span class="says"><Text value={event.sentence ?? ""} max={220} fixed /></span>
    </div>
    {open && (
      <div class="event-whole">
        <p class="line">
          {event.task_id !== undefined && <Link to={{ panel: "task", rest: [event.task_id] }}>Open the task</Link>}
          {event.trace_id !== undefined && <Link to={{ panel: "trace", rest: [event.trace_id], query: { event: event.seq } }}>Open the trace</Link>}
          {event.thread_id !== undefined && <Link to={{ panel: "threads", rest: [event.thread_id] }}>Open the thread</Link>}
          <Link to={{ query: { seq: event.seq } }}>Link to this event</Link>
          <Link to={{ query: { at: event.seq } }}>As of then</Link>
        </p>
        <pre tabIndex={0} aria-label={`Event ${event.seq}`}><Text value={jsonOf(event, 2)} max={4000} lines /></pre>
      </div>
    )}
  </div>
);

const Kinds = ({ filter, seen, onChange }: { filter: Filter; seen: string[]; onChange: (filter: Filter) => void }): JSX.Element => {
  const kinds = [...new Set([...filter.kinds, ...seen])].sort();
  return (
    <details class="menu">
      <summary>Kinds{filter.kinds.length > 0 ? ` (${filter.kinds.length})` : ""}</summary>
      <div class="menu-box">
        {kinds.map((kind) => (
          <label key={kind}>
            <input type="checkbox" checked={filter.kinds.includes(kind)} onChange={(event) => onChange(event.currentTarget.checked ? picked(filter, "kind", kind, false) : dropped(filter, "kind", kind))} />
            <Text value={kind} max={60} fixed />
          </label>
        ))}
        <label class="parted">
          <input type="checkbox" checked={filter.all} onChange={(event) => onChange({ ...filter, all: event.currentTarget.checked })} />
          also bookkeeping
        </label>
      </div>
    </details>
  );
};

const Types = ({ filter, seen, onChange }: { filter: Filter; seen: string[]; onChange: (filter: Filter) => void }): JSX.Element | null => {
  const types = [...new Set([...(filter.type === "" ? [] : [filter.type]), ...seen])].sort();
  if (types.length === 0) return null;
  return (
    <select aria-label="Type of message" value={filter.type} onChange={(event) => onChange({ ...filter, type: event.currentTarget.value })}>
      <option value="">all types</option>
      {types.map((type) => <option key={type} value={type}>{type}</option>)}
    </select>
  );
};

const Terms = ({ filter, onChange }: { filter: Filter; onChange: (filter: Filter) => void }): JSX.Element | null => {
  const taken = FIELDS.flatMap((field) => (field === "kind" ? filter.kinds : filter[field] === "" ? [] : [filter[field]]).map((value) => ({ field, value })));
  if (taken.length === 0 && filter.not.length === 0) return null;
  return (
    <div class="terms" aria-label="Filters">
      {taken.map(({ field, value }) => (
        <Chip key={`${field}:${value}`} tone="accent" title="Remove this filter" onPick={() => onChange(dropped(filter, field, value))}>
          <span class="sub">{field} </span><Text value={value} max={48} fixed /> ✕
        </Chip>
      ))}
      {filter.not.map((one) => (
        <Chip key={`not:${one.field}:${one.value}`} tone="muted" title="Remove this filter" onPick={() => onChange({ ...filter, not: filter.not.filter((other) => other !== one) })}>
          <span class="sub">not {one.field} </span><s><Text value={one.value} max={48} fixed /></s> ✕
        </Chip>
      ))}
      <button type="button" class="quiet" onClick={() => onChange(readFilter({ q: filter.text }))}>Drop all</button>
    </div>
  );
};

const Live = (): JSX.Element => {
  const query = route.value.query;
  const filter = useMemo(() => readFilter(query), [JSON.stringify(writeFilter(readFilter(query)))]);
  const around = query["seq"] === undefined || Number.isNaN(Number(query["seq"])) ? null : Number(query["seq"]);
  const [paused, setPaused] = useState(false);
  const [scrolled, setScrolled] = useState(false);
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set(around === null ? [] : [around]));
  const frame = useRef<HTMLDivElement>(null);
  // On a narrow page lines wrap, so the height of a row must be measured.
  const narrow = matchMedia("(max-width: 900px)").matches;
  const fixed = at.value !== null || around !== null;
  // If the first page failed, read it again after the next sign-in. A list that was read continues after its last
  // seq.
  const [again, setAgain] = useState(0);
  const tail = useTail({ team: team.value, filter, at: at.value, around, paused: paused || scrolled, again });
  useEffect(() => {
    if (tail.error !== null && tail.events.length === 0) setAgain((count) => count + 1);
  }, [signIns.value]);

  const change = (next: Filter, replace = false): void => go({ query: writeFilter(next) }, replace);
  const list = (): HTMLElement | null => frame.current?.querySelector(".virtual") ?? null;
  const showFresh = (): void => {
    tail.showFresh();
    setPaused(false);
    list()?.scrollTo({ top: 0 });
  };
  useEffect(() => {
    const box = list();
    if (box === null) return;
    const listen = (): void => setScrolled(box.scrollTop > LINE * 2);
    box.addEventListener("scroll", listen, { passive: true });
    return () => box.removeEventListener("scroll", listen);
  }, [tail.events.length === 0]);
  // When the user scrolls back to the top, show the events that arrived in the meantime.
  useEffect(() => {
    if (!paused && !scrolled && tail.fresh.length > 0) tail.showFresh();
  }, [paused, scrolled, tail.fresh.length]);
  useKeys({
    p: () => setPaused(!paused),
    n: showFresh,
    "/": (event) => {
      event.preventDefault();
      document.querySelector<HTMLInputElement>("#live-text")?.focus();
    },
  });
  const seen = useMemo(() => [...new Set(tail.events.map((event) => event.kind))], [tail.events]);
  const types = useMemo(() => [...new Set(tail.events.flatMap((event) => messageType(event) ?? []))], [tail.events]);
  const target = useMemo(() => {
    const index = around === null ? -1 : tail.events.findIndex((event) => event.seq === around);
    return index < 0 ? null : { index, align: "center" as const };
  }, [around, tail.loading]);

  const line = useCallback(
    (event: LogEvent): JSX.Element => (
      <Line
        event={event}
        open={opened.has(event.seq)}
        focused={event.seq === around}
        onPick={(field, value, out) => change(picked(filter, field, value, out))}
        onOpen={() => setOpened((old) => {
          const next = new Set(old);
          if (!next.delete(event.seq)) next.add(event.seq);
          return next;
        })}
      />
    ),
    [opened, around, filter],
  );

  return (
    <Panel
      title="Live"
      fill
      command={commandFor(filter, tail.events, around)}
      note={tail.loading ? undefined : `${countOf(tail.events.length, "event")}${tail.older ? ", more behind" : ""}`}
      tools={
        <>
          <input id="live-text" type="search" aria-label="Text in events" placeholder="Text" value={filter.text} onChange={(event) => change({ ...filter, text: event.currentTarget.value })} />
          <Kinds filter={filter} seen={seen} onChange={change} />
          <Types filter={filter} seen={types} onChange={change} />
          {around !== null && <button type="button" onClick={() => go({ query: { seq: undefined } })}>To the newest</button>}
          {!fixed && <button type="button" aria-pressed={paused} onClick={() => (paused ? showFresh() : setPaused(true))}>{paused ? "Go on" : "Pause"}</button>}
        </>
      }
    >
      <Terms filter={filter} onChange={change} />
      {tail.error !== null && <Failure error={tail.error} />}
      <div class="live" ref={frame}>
        {tail.fresh.length > 0 && <button type="button" class="primary fresh" onClick={showFresh}>{tail.fresh.length.toLocaleString("en")} new</button>}
        {tail.loading && tail.error === null && <Loading />}
        {!tail.loading && tail.events.length === 0 && tail.error === null && (
          <Empty
            title="No events"
            why={tail.older ? "No event read so far matches the filter." : "No recorded event matches the filter."}
            command={commandOf("task", "create", "TEAM", "--subject", "Fix it")}
          />
        )}
        {tail.events.length > 0 && (
          <VirtualList
            label="Events, newest first"
            items={tail.events}
            keyOf={(event) => event.seq}
            estimate={LINE}
            measured={opened.size > 0 || narrow}
            onEnd={tail.loadOlder}
            scrollTo={target}
            render={line}
          />
        )}
      </div>
      {tail.older && tail.events.length < 40 && !tail.loading && <button type="button" onClick={tail.loadOlder}>Look further back</button>}
    </Panel>
  );
};

export const panel: PanelEntry = {
  id: "live",
  title: "Live",
  order: 40,
  key: "l",
  keys: [["p", "pause, continue"], ["n", "show new events"], ["/", "search text"], ["Alt click", "filter a value out"]],
  component: Live,
};
