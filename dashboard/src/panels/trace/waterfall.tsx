// The rows of a trace and their bars. The document contains only the visible rows and the row with the focus, because
// a removed element loses the focus. All rows have one height, so the position of a row is its index times the
// height.

import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { useNarrow, visible } from "../page.tsx";
import { duration, place, share, ticks, type Stretch } from "./scale.ts";
import { outcomeOf } from "./outcome.ts";
import { thinned, type Bar, type Row } from "./rows.ts";

const BEYOND = 8;

interface Props {
  rows: readonly Row[];
  stretch: Stretch;
  zero: number;
  active: number;
  found: ReadonlySet<number>;
  label: string;
  /** Increases when the active row must be scrolled into view and get the focus. */
  focus: number;
  past: boolean;
  onActive: (index: number, chosen: boolean) => void;
  onToggle: (row: Row) => void;
  /** Moves the visible range of time. `right` is true for later times. */
  onPan: (right: boolean) => void;
}

export function Waterfall(props: Props) {
  const { rows, stretch, zero, active } = props;
  const narrow = useNarrow();
  const height = narrow ? 44 : 26;
  const box = useRef<HTMLDivElement>(null);
  const [sight, setSight] = useState({ top: 0, height: 600 });

  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const measure = (): void => setSight({ top: element.scrollTop, height: element.clientHeight });
    measure();
    const sized = new ResizeObserver(measure);
    sized.observe(element);
    return () => sized.disconnect();
  }, []);

  // Rows of older pages are inserted above. The visible rows keep their positions.
  const anchor = useRef<{ key: string; offset: number } | null>(null);
  useLayoutEffect(() => {
    const element = box.current;
    const held = anchor.current;
    if (!element || !held || element.scrollTop === 0) return;
    const index = rows.findIndex((row) => row.key === held.key);
    if (index >= 0) element.scrollTop = index * height + held.offset;
  }, [rows]);
  const scrolled = (element: HTMLElement): void => {
    const top = Math.floor(element.scrollTop / height);
    const row = rows[top];
    anchor.current = row ? { key: row.key, offset: element.scrollTop - top * height } : null;
    setSight({ top: element.scrollTop, height: element.clientHeight });
  };

  useEffect(() => {
    const element = box.current;
    if (!element || props.focus === 0) return;
    const top = active * height;
    if (top < element.scrollTop || top + height > element.scrollTop + element.clientHeight) {
      element.scrollTop = Math.max(0, top - element.clientHeight / 2 + height / 2);
      scrolled(element);
    }
    element.querySelector<HTMLElement>('[aria-selected="true"]')?.focus({ preventScroll: true });
  }, [props.focus]);

  const first = Math.max(0, Math.floor(sight.top / height) - BEYOND);
  const last = Math.min(rows.length, Math.ceil((sight.top + sight.height) / height) + BEYOND);
  const indexes = Array.from({ length: Math.max(0, last - first) }, (_, at) => first + at);
  // The active row is always the first element, because an element that is moved inside its parent loses the focus.
  const others = indexes.filter((index) => index !== active);

  const marks = ticks(stretch, zero, narrow ? 3 : 6);
  // Reuse the elements of rows that were drawn, so that scrolling draws only new rows.
  const drawn = useMemo(() => new Map<string, JSX.Element>(), [rows, stretch, props.found, height]);
  const latest = useRef(props);
  latest.current = props;
  const rowAt = (index: number): JSX.Element | null => {
    const row = rows[index];
    if (!row) return null;
    const key = `${row.key}${index === active ? " active" : ""}`;
    let node = drawn.get(key);
    if (!node) {
      node = (
        <WaterfallRow
          key={row.key}
          row={row}
          index={index}
          top={index * height}
          height={height}
          stretch={stretch}
          active={index === active}
          found={props.found.has(index)}
          onPick={() => latest.current.onActive(index, true)}
          onToggle={() => latest.current.onToggle(row)}
        />
      );
      drawn.set(key, node);
    }
    return node;
  };
  return (
    <div class={narrow ? "wf wf-narrow" : "wf"}>
      <div class="wf-axis" aria-hidden="true">
        <div class="wf-name" />
        <div class="wf-chart">
          {marks.map((at) => (
            <span key={at} class="wf-tick" style={{ left: `${share(zero + at, stretch) * 100}%` }}>
              +{duration(at)}
            </span>
          ))}
        </div>
      </div>
      <div
        ref={box}
        class="wf-rows"
        role="tree"
        aria-label={props.label}
        onScroll={(event) => scrolled(event.currentTarget)}
        onKeyDown={(event) => keys(event, props)}
      >
        <div role="none" class="wf-all" style={{ height: `${rows.length * height}px` }}>
          <div role="none" class="wf-grids">
            <div class="wf-chart">
              {marks.map((at) => (
                <span key={at} class="wf-grid" style={{ left: `${share(zero + at, stretch) * 100}%` }} />
              ))}
            </div>
          </div>
          {rowAt(active)}
          {others.map(rowAt)}
        </div>
      </div>
    </div>
  );
}

function keys(event: KeyboardEvent, props: Props): void {
  const { rows, active, onActive, onToggle } = props;
  const row = rows[active];
  if (event.ctrlKey || event.metaKey || event.altKey || !row) return;
  const go = (index: number): void => onActive(Math.min(rows.length - 1, Math.max(0, index)), false);
  const page = 20;
  switch (event.key) {
    case "ArrowDown":
      go(active + 1);
      break;
    case "ArrowUp":
      go(active - 1);
      break;
    case "PageDown":
      go(active + page);
      break;
    case "PageUp":
      go(active - page);
      break;
    case "Home":
      go(0);
      break;
    case "End":
      // In the past, the End key leads back to the present, no matter which element has the focus.
      if (props.past) return;
      go(rows.length - 1);
      break;
    case "ArrowRight":
      if (event.shiftKey) props.onPan(true);
      else if (row.children > 0 && row.collapsed) onToggle(row);
      else if (row.children > 0) go(active + 1);
      break;
    case "ArrowLeft": {
      if (event.shiftKey) props.onPan(false);
      else if (row.children > 0 && !row.collapsed) onToggle(row);
      else {
        let above = active - 1;
        while (above >= 0 && (rows[above]?.depth ?? 0) >= row.depth) above -= 1;
        if (above >= 0) go(above);
      }
      break;
    }
    case "Enter":
    case " ":
      onActive(active, true);
      break;
    default:
      return;
  }
  event.preventDefault();
  event.stopPropagation();
}

interface RowProps {
  row: Row;
  index: number;
  top: number;
  height: number;
  stretch: Stretch;
  active: boolean;
  found: boolean;
  onPick: () => void;
  onToggle: () => void;
}

// Marks hidden characters in plain text, because a row has no space for more.
function inline(text: string): JSX.Element {
  return <bdi>{visible(text)}</bdi>;
}

function WaterfallRow({ row, index, top, height, active, found, stretch, onPick, onToggle }: RowProps) {
  const names = ["wf-row"];
  if (active) names.push("wf-active");
  if (found) names.push("wf-found");
  if (row.struck) names.push("wf-struck");
  if (!row.step) names.push("wf-group");
  if (row.problem) names.push("wf-problem");
  return (
    <div
      class={names.join(" ")}
      role="treeitem"
      aria-level={row.depth + 1}
      aria-selected={active}
      aria-expanded={row.children > 0 ? !row.collapsed : undefined}
      data-index={index}
      data-seq={row.seq}
      tabIndex={active ? 0 : -1}
      style={{ top: `${top}px`, height: `${height}px` }}
      onClick={onPick}
    >
      <div class="wf-name">
        <span class="wf-indent" style={{ width: `${Math.min(row.depth, 12) * 14}px` }} />
        <span
          class="wf-twist"
          aria-hidden="true"
          onClick={(event) => {
            if (row.children === 0) return;
            event.stopPropagation();
            onToggle();
          }}
        >
          {row.children === 0 ? (row.depth > 0 ? "└" : "") : row.collapsed ? "▸" : "▾"}
        </span>
        {row.step && <span class="wf-seq">#{row.seq}</span>}
        {row.problem && (
          <span class="wf-sign" role="img" aria-label="problem">
            !
          </span>
        )}
        {row.who !== "" && <span class="wf-who">{inline(row.who)}</span>}
        <span class="wf-label">{inline(row.label)}</span>
        <span class="wf-said">{inline(row.said)}</span>
        {row.collapsed && <span class="wf-count">{row.children}</span>}
        {row.marks.length > 0 && <span class="wf-marks">{inline(row.marks.join(" · "))}</span>}
      </div>
      <div class="wf-chart">
        {thinned(row.bars, stretch).map((bar) => (
          <BarShown key={bar.key} bar={bar} stretch={stretch} alone={row.bars.length < 6} />
        ))}
        {thinned(row.dots, stretch).map((dot) => {
          const at = place(dot.at, dot.at, stretch);
          return (
            at && (
              <span
                key={dot.seq}
                class={`wf-dot${dot.struck ? " wf-dot-struck" : dot.problem ? " wf-dot-problem" : ""}`}
                title={dot.title}
                style={{ left: `${at.left}%` }}
              />
            )
          );
        })}
      </div>
    </div>
  );
}

function BarShown({ bar, stretch, alone }: { bar: Bar; stretch: Stretch; alone: boolean }) {
  const at = place(bar.from, bar.to, stretch);
  if (!at) return null;
  const outcome = outcomeOf(bar.outcome);
  const text = `${outcome.sign} ${duration(bar.to - bar.from)}`;
  // A label that does not fit inside the bar is after the bar, or before it near the end of the chart.
  const side = at.width > 22 ? "in" : at.left + at.width < 82 ? "after" : "before";
  return (
    <span
      class={`wf-bar wf-${outcome.tone}${bar.open ? " wf-bar-open" : ""} ${bar.key.startsWith("message") ? "wf-bar-thin" : ""}`}
      title={`${bar.title}, ${duration(bar.to - bar.from)}`}
      data-span={bar.key}
      data-first={bar.firstSeq}
      data-last={bar.lastSeq ?? ""}
      style={{ left: `${at.left}%`, width: `${at.width}%` }}
    >
      {(alone || at.width > 8) && <span class={`wf-bar-text wf-text-${alone ? side : "in"}`}>{text}</span>}
    </span>
  );
}
