// The trace panel: the list of traces, or the waterfall of one trace. The address contains the selection: the trace,
// the view, the event and the search text.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { useKeys } from "../shell/keys.ts";
import type { PanelEntry } from "./index.ts";
import { Empty, Failed, go, More, Panel, param, readingOf, Shown, subject, useAt } from "./page.tsx";
import { EventFields } from "./trace/event-fields.tsx";
import { MiniMap } from "./trace/mini-map.tsx";
import { around, collapsible, findRows, rowsOf, VIEWS, type Row, type View } from "./trace/rows.ts";
import { duration, type Stretch } from "./trace/scale.ts";
import type { Story } from "./trace/story.ts";
import { TraceList } from "./trace/trace-list.tsx";
import { useTrace } from "./trace/read.ts";
import { Waterfall } from "./trace/waterfall.tsx";

function Trace() {
  const id = subject();
  return id === null ? <TraceList /> : <OneTrace key={id} id={id} />;
}

function OneTrace({ id }: { id: string }) {
  const { story, error, loading, older } = useTrace(id, useAt());
  const command = readingOf("trace", "TEAM", "--trace-id", id);
  if (error && !story) return <Failed error={error} />;
  if (!story || story.steps.length === 0) {
    return (
      <Panel title="Trace" note={<Shown text={id} />} command={command} busy={loading}>
        {!loading && (
          <Empty title="No such trace" command={readingOf("trace", "TEAM")}>
            Nothing was recorded under this trace id.
          </Empty>
        )}
      </Panel>
    );
  }
  return <Whole story={story} command={command} loading={loading} older={older} />;
}

interface Props {
  story: Story;
  command: string;
  loading: boolean;
  older: (() => void) | null;
}

function Whole({ story, command, loading, older }: Props) {
  const view = VIEWS.find((each) => each === param("view")) ?? "full";
  const text = param("find") ?? "";
  const chosen = Number(param("event")) || null;
  const [toggled, setToggled] = useState<ReadonlySet<string>>(new Set());
  const [stretch, setStretch] = useState<Stretch | null>(null);
  // The active row is stored by key, because rows of older pages are inserted above it.
  const [activeKey, setActiveKey] = useState("");
  const [focus, setFocus] = useState(0);
  const search = useRef<HTMLInputElement>(null);

  const whole = useMemo(() => padded(story), [story]);
  const shown = stretch ?? whole;
  const rows = useMemo(() => rowsOf(story, view, toggled), [story, view, toggled]);
  const found = useMemo(() => findRows(rows, text), [rows, text]);
  const active = useMemo(
    () =>
      Math.max(
        0,
        rows.findIndex((row) => row.key === activeKey),
      ),
    [rows, activeKey],
  );
  const setActive = (index: number): void => setActiveKey(rows[index]?.key ?? "");

  const reveal = (seq: number): void => {
    const index = rows.findIndex((row) => row.seq === seq);
    if (index >= 0) {
      setActive(index);
      setFocus((count) => count + 1);
      return;
    }
    // The row is inside a collapsed row. Expand the rows that contain the row, and search again.
    if (view !== "full" || toggled.size === 0) return;
    const open = new Set(toggled);
    let above = story.steps[story.bySeq.get(seq) ?? -1]?.parent ?? null;
    while (above !== null) {
      const step = story.steps[above];
      open.delete(`e${step?.event.seq}`);
      above = step?.parent ?? null;
    }
    setToggled(open);
  };
  // A link to an event scrolls to the event after its page of the trace was read.
  const revealed = useRef<number | null>(null);
  useEffect(() => {
    if (chosen === null) revealed.current = null;
    else if (revealed.current !== chosen && story.bySeq.has(chosen)) {
      reveal(chosen);
      if (rows.some((row) => row.seq === chosen)) revealed.current = chosen;
    }
  }, [chosen, rows]);

  const choose = (index: number): void => {
    const row = rows[index];
    if (!row) return;
    revealed.current = row.seq;
    setActive(index);
    setFocus((count) => count + 1);
    go({ event: row.seq }, { replace: chosen !== null });
  };
  const onActive = (index: number, picked: boolean): void => {
    // If the fields of an event are shown, they follow the active row. If no fields are shown, a move to another row
    // does not change the address.
    if (picked || chosen !== null) return choose(index);
    setActive(index);
    setFocus((count) => count + 1);
  };
  const onToggle = (row: Row): void => {
    const next = new Set(toggled);
    if (!next.delete(row.key)) next.add(row.key);
    setToggled(next);
    setActiveKey(row.key);
  };
  const all = (collapse: boolean): void => {
    setToggled(new Set(collapse ? collapsible(story, view) : []));
    setActiveKey("");
  };
  const jump = (places: readonly number[], back = false): void => {
    const next = around(places, active, back);
    if (next !== null) choose(next);
  };
  // Include problems inside collapsed rows, and expand these rows.
  const problem = (back: boolean): void => {
    if (view !== "full")
      return jump(
        rows.flatMap((row, index) => (row.problem ? [index] : [])),
        back,
      );
    const all = rowsOf(story, view, new Set());
    const here = all.findIndex((row) => row.seq === rows[active]?.seq);
    const next = around(
      all.flatMap((row, index) => (row.problem ? [index] : [])),
      here,
      back,
    );
    const seq = next === null ? undefined : all[next]?.seq;
    if (seq !== undefined) go({ event: seq }, { replace: chosen !== null });
  };
  const zoom = (factor: number, shift = 0): void => {
    const length = (shown.to - shown.from) * factor;
    const row = rows[active];
    const step = row ? story.steps[story.bySeq.get(row.seq) ?? 0] : undefined;
    const middle =
      shift !== 0 ? (shown.from + shown.to) / 2 + shift * (shown.to - shown.from) : (step?.at ?? shown.from);
    const from = Math.max(whole.from, middle - length / 2);
    const to = Math.min(whole.to, from + length);
    setStretch(to - from >= whole.to - whole.from ? null : { from, to });
  };
  const keyed =
    (act: () => void) =>
    (event: KeyboardEvent): void => {
      event.preventDefault();
      act();
    };
  useKeys({
    e: keyed(() => problem(false)),
    E: keyed(() => problem(true)),
    n: keyed(() => jump(found)),
    N: keyed(() => jump(found, true)),
    f: keyed(() => search.current?.focus()),
    c: keyed(() => all(true)),
    x: keyed(() => all(false)),
    "+": keyed(() => zoom(0.5)),
    "=": keyed(() => zoom(0.5)),
    "-": keyed(() => zoom(2)),
    "0": keyed(() => setStretch(null)),
    Escape: () => chosen !== null && go({ event: null }),
  });

  const picked = chosen === null ? undefined : story.steps[story.bySeq.get(chosen) ?? -1];
  const foundHere = found.indexOf(active);
  return (
    <Panel
      title="Trace"
      note={
        <b>
          <Shown text={story.traceId} />
        </b>
      }
      command={command}
      fill
    >
      <p class="summary">
        {story.steps.length.toLocaleString("en")} events over {duration(story.last - story.first)}
        {loading && ", older ones on their way"}
        {story.problems.length > 0 && (
          <>
            {" · "}
            <button type="button" class="linklike" onClick={() => problem(false)}>
              {story.problems.length.toLocaleString("en")} {story.problems.length === 1 ? "problem" : "problems"}
            </button>{" "}
            <kbd>e</kbd>
          </>
        )}
        {story.missing.length > 0 && (
          <span class="warned">
            {" · "}! {story.missing.length} {story.missing.length === 1 ? "cause is" : "causes are"} not in this trace
          </span>
        )}
      </p>
      <div class="tools" role="toolbar" aria-label="Trace">
        <div class="choice" role="group" aria-label="View">
          {VIEWS.map((each) => (
            <button
              key={each}
              type="button"
              aria-pressed={view === each}
              onClick={() => {
                setToggled(new Set());
                setActiveKey("");
                go({ view: each === "full" ? null : each });
              }}
            >
              {each}
            </button>
          ))}
        </div>
        {view === "full" && (
          <>
            <button type="button" onClick={() => all(true)}>
              Collapse all
            </button>
            <button type="button" onClick={() => all(false)}>
              Open all
            </button>
          </>
        )}
        <Finder text={text} found={found.length} here={foundHere} input={search} onJump={(back) => jump(found, back)} />
        {stretch && (
          <button type="button" onClick={() => setStretch(null)}>
            Whole trace
          </button>
        )}
      </div>
      <MiniMap story={story} whole={whole} shown={shown} onStretch={setStretch} />
      <div class={picked ? "beside" : "beside beside-none"}>
        <Waterfall
          rows={rows}
          stretch={shown}
          zero={story.first}
          active={active}
          found={useMemo(() => new Set(found), [found])}
          label={`${LABELS[view]} of trace ${story.traceId}`}
          focus={focus}
          past={useAt() !== null}
          onActive={onActive}
          onToggle={onToggle}
          onPan={(right) => zoom(1, right ? 0.25 : -0.25)}
        />
        {picked && (
          <EventFields
            event={picked.event}
            story={story}
            onSeq={(seq) => go({ event: seq })}
            onClose={() => go({ event: null })}
          />
        )}
      </div>
      {older && <More onMore={older}>Read older events of this trace</More>}
    </Panel>
  );
}

const LABELS: Readonly<Record<View, string>> = { full: "Events", compact: "Activities", timeline: "Agents" };

interface FinderProps {
  text: string;
  found: number;
  here: number;
  input: { current: HTMLInputElement | null };
  onJump: (back: boolean) => void;
}

function Finder({ text, found, here, input, onJump }: FinderProps) {
  return (
    <div class="finder" role="search">
      <input
        ref={input}
        type="search"
        placeholder="Find in this trace"
        aria-label="Find in this trace"
        value={text}
        onInput={(event) => go({ find: event.currentTarget.value || null }, { replace: true })}
        onKeyDown={(event) => {
          if (event.key === "Enter") {
            event.preventDefault();
            onJump(event.shiftKey);
          }
          event.stopPropagation();
          if (event.key === "Escape") event.currentTarget.blur();
        }}
      />
      {text !== "" && (
        <>
          <output class="finder-count">{here >= 0 ? `${here + 1} of ${found}` : found === 0 ? "none" : found}</output>
          <button type="button" aria-label="Previous match" disabled={found === 0} onClick={() => onJump(true)}>
            ↑
          </button>
          <button type="button" aria-label="Next match" disabled={found === 0} onClick={() => onJump(false)}>
            ↓
          </button>
        </>
      )}
    </div>
  );
}

// A trace whose events all have the same time would have no width, so widen the range.
function padded(story: Story): Stretch {
  return { from: story.first, to: Math.max(story.last, story.first + 1) };
}

const KEYS = [
  ["e", "next problem; E the one before"],
  ["f", "find in the trace; n and N walk the matches"],
  ["← →", "close and open a row"],
  ["c x", "collapse all, open all"],
  ["+ -", "a shorter or longer stretch of time; 0 the whole"],
  ["Enter", "the fields of an event; Escape closes them"],
] as const;

export const panel: PanelEntry = { id: "trace", title: "Traces", order: 50, key: "r", keys: KEYS, component: Trace };
