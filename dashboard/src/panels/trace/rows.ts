// Computes the rows of a waterfall. The three views of a trace make rows of one type, so that one list can draw and
// search them: every event below its cause (full), one row per task and message (compact), one lane per agent
// (timeline).

import { share, type Stretch } from "./scale.ts";
import { micros, words, type Span, type Step, type Story } from "./story.ts";

export type View = "full" | "compact" | "timeline";
export const VIEWS: readonly View[] = ["compact", "timeline", "full"];

/** A bar from the begin to the end of a task or message. Times are in microseconds. */
export interface Bar {
  key: string;
  from: number;
  to: number;
  outcome: string;
  title: string;
  /** True if the task or message has not ended. */
  open: boolean;
  firstSeq: number;
  lastSeq: number | null;
}

/** An event as a dot on a row. */
export interface Dot {
  seq: number;
  at: number;
  title: string;
  problem: boolean;
  struck: boolean;
}

export interface Row {
  key: string;
  depth: number;
  /** Seq of the event that a click on the row selects. */
  seq: number;
  step: Step | null;
  label: string;
  who: string;
  said: string;
  marks: string[];
  struck: boolean;
  problem: boolean;
  children: number;
  collapsed: boolean;
  bars: Bar[];
  dots: Dot[];
}

/** Returns the rows of a story in a view. */
export function rowsOf(story: Story, view: View, collapsed: ReadonlySet<string>): Row[] {
  if (view === "full") return treeRows(story, collapsed);
  return groupRows(story, view === "compact" ? activityOf : laneOf, collapsed, view);
}

/** Returns the keys of all rows that can be collapsed. */
export function collapsible(story: Story, view: View): string[] {
  if (view === "full")
    return story.steps.filter((step) => step.children.length > 0).map((step) => `e${step.event.seq}`);
  return [];
}

function treeRows(story: Story, collapsed: ReadonlySet<string>): Row[] {
  const rows: Row[] = [];
  // Use an explicit stack, because a chain of causes may be thousands long and recursion would overflow the call
  // stack.
  const stack: number[] = [];
  for (let index = story.steps.length - 1; index >= 0; index -= 1) {
    if (story.steps[index]?.parent === null) stack.push(index);
  }
  while (stack.length > 0) {
    const index = stack.pop();
    const step = index === undefined ? undefined : story.steps[index];
    if (!step) continue;
    const row = eventRow(step, story);
    row.collapsed = collapsed.has(row.key) && row.children > 0;
    rows.push(row);
    if (row.collapsed) continue;
    for (let child = step.children.length - 1; child >= 0; child -= 1) {
      const below = step.children[child];
      if (below !== undefined) stack.push(below);
    }
  }
  return rows;
}

function eventRow(step: Step, story: Story, depth = step.depth): Row {
  const { event } = step;
  return {
    key: `e${event.seq}`,
    depth,
    seq: event.seq,
    step,
    label: event.kind,
    who: event.actor,
    said: step.said,
    marks: marksOf(step),
    struck: Boolean(event.superseded || event.duplicate || event.refused),
    problem: step.problem !== null,
    children: step.children.length,
    collapsed: false,
    bars: step.begins.flatMap((span) => barOf(span, story) ?? []),
    dots: [dotOf(step)],
  };
}

function marksOf(step: Step): string[] {
  const { event } = step;
  const marks: string[] = [];
  if (event.superseded) marks.push("superseded: changed nothing");
  if (event.duplicate) marks.push("duplicate: changed nothing");
  if (event.refused) marks.push("refused");
  if (event.foreign) marks.push("foreign");
  if (step.outside) marks.push("cause is not in this trace");
  for (const span of step.begins) {
    if (span.kind === "task" || span.outcome !== "open")
      marks.push(`${span.kind === "task" ? span.id : "message"} ${words(span.outcome)}`);
  }
  return marks;
}

function dotOf(step: Step): Dot {
  const { event } = step;
  return {
    seq: event.seq,
    at: step.at,
    title: `#${event.seq} ${event.kind} by ${event.actor}`,
    problem: step.problem !== null,
    struck: Boolean(event.superseded || event.duplicate || event.refused),
  };
}

/**
 * Returns the bar of a span. A message that was neither acknowledged nor became a dead letter has no end and so no
 * bar.
 */
export function barOf(span: Span, story: Story): Bar | null {
  const begin =
    story.steps[story.bySeq.get(span.first_seq) ?? -1]?.at ?? (span.started_at ? micros(span.started_at) : null);
  if (begin === null) return null;
  const end = span.last_seq == null ? undefined : story.steps[story.bySeq.get(span.last_seq) ?? -1]?.at;
  const to = end ?? (span.duration_us == null ? undefined : begin + span.duration_us);
  if (to === undefined && span.kind !== "task") return null;
  return {
    key: `${span.kind}:${span.id}:${span.first_seq}`,
    from: begin,
    to: to ?? story.last,
    outcome: span.outcome,
    title: `${span.kind} ${span.id}, ${words(span.outcome)}${span.last_seq == null ? "" : `, #${span.first_seq} to #${span.last_seq}`}`,
    open: to === undefined,
    firstSeq: span.first_seq,
    lastSeq: span.last_seq ?? null,
  };
}

interface Group {
  key: string;
  label: string;
  who: Set<string>;
  said: string;
  steps: Step[];
}

function activityOf(step: Step): [string, string] {
  const { event } = step;
  if (event.task_id) return [`task ${event.task_id}`, event.task_id];
  if (event.thread_id) return [`thread ${event.thread_id}`, event.thread_id];
  if (event.message_id) return [`message ${event.message_id}`, event.message_id];
  return [`kind ${event.kind} ${event.actor}`, event.kind];
}

function laneOf(step: Step): [string, string] {
  return [`agent ${step.event.actor}`, step.event.actor];
}

// In this view groups are closed by default, so `collapsed` contains the keys of groups that the user opened.
function groupRows(
  story: Story,
  groupOf: (step: Step) => [string, string],
  opened: ReadonlySet<string>,
  view: View,
): Row[] {
  const groups = new Map<string, Group>();
  for (const step of story.steps) {
    const [key, label] = groupOf(step);
    let group = groups.get(key);
    if (!group) {
      group = { key, label, who: new Set(), said: "", steps: [] };
      groups.set(key, group);
    }
    group.who.add(step.event.actor);
    if (!group.said) group.said = step.said;
    group.steps.push(step);
  }
  const spans = new Map<string, Span[]>();
  for (const span of story.spans) {
    const key = view === "timeline" ? `agent ${span.agent}` : `${span.kind} ${span.id}`;
    if (view === "timeline" && span.kind !== "task") continue;
    const list = spans.get(key);
    if (list) list.push(span);
    else spans.set(key, [span]);
  }
  const rows: Row[] = [];
  for (const group of groups.values()) {
    const first = group.steps[0];
    if (!first) continue;
    const of = spans.get(group.key) ?? [];
    const bars = of.flatMap((span) => barOf(span, story) ?? []);
    const open = opened.has(group.key);
    rows.push({
      key: group.key,
      depth: 0,
      seq: first.event.seq,
      step: null,
      label: group.label,
      who: view === "compact" ? [...group.who].join(", ") : "",
      said: view === "compact" ? group.said : `${group.steps.length} events`,
      marks: view === "compact" ? of.slice(-1).map((span) => words(span.outcome)) : [],
      struck: false,
      problem: group.steps.some((step) => step.problem !== null),
      children: group.steps.length,
      collapsed: !open,
      bars,
      dots: group.steps.map(dotOf),
    });
    if (open)
      for (const step of group.steps)
        rows.push({ ...eventRow(step, story, 1), key: `${group.key} e${step.event.seq}`, children: 0 });
  }
  return rows;
}

/** Returns the indices of the rows that contain a text. */
export function findRows(rows: readonly Row[], text: string): number[] {
  const wanted = text.trim().toLowerCase();
  if (wanted === "") return [];
  const found: number[] = [];
  rows.forEach((row, index) => {
    const { step } = row;
    const refs = step
      ? [step.event.task_id, step.event.message_id, step.event.agent, step.event.id, `#${step.event.seq}`]
      : [];
    const texts = [row.label, row.who, row.said, ...row.marks, ...refs];
    if (texts.some((each) => each?.toLowerCase().includes(wanted))) found.push(index);
  });
  return found;
}

/**
 * Returns the next of the sorted `places` after `from`, continuing at the start. With `back`, returns the previous
 * one.
 */
export function around(places: readonly number[], from: number, back = false): number | null {
  if (places.length === 0) return null;
  if (back) return [...places].reverse().find((place) => place < from) ?? places[places.length - 1] ?? null;
  return places.find((place) => place > from) ?? places[0] ?? null;
}

const SLOTS = 700;

/**
 * Returns the bars or dots of a row that must be drawn: those in the visible part of the trace. If several have one position,
 * returns only the worst of them. Drawing thousands would be slow and look the same.
 */
export function thinned<T extends Bar | Dot>(all: readonly T[], stretch: Stretch): T[] {
  if (all.length < 50) return [...all];
  const kept = new Map<string, T>();
  for (const each of all) {
    const [from, to] = "at" in each ? [each.at, each.at] : [each.from, each.to];
    if (to < stretch.from || from > stretch.to) continue;
    const slot = `${Math.round(share(from, stretch) * SLOTS)} ${Math.round(share(to, stretch) * SLOTS)}`;
    const there = kept.get(slot);
    if (!there || rank(each) > rank(there)) kept.set(slot, each);
  }
  return [...kept.values()];
}

function rank(each: Bar | Dot): number {
  if ("at" in each) return each.problem ? 1 : 0;
  return ["failed", "dead_letter", "lease_expired"].includes(each.outcome) ? 1 : 0;
}
