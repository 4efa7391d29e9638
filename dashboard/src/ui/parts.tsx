// Small parts that the panels use.

import type { ComponentChildren, JSX } from "preact";
import type { ApiError } from "../api/client.ts";
import { go, hrefOf, visit, type RouteChange } from "../state/route.ts";
import { Command } from "./command.tsx";
import { Text } from "./text.tsx";

export type Tone = "plain" | "accent" | "ok" | "warn" | "error" | "muted";

export const Badge = ({ tone = "plain", title, children }: { tone?: Tone; title?: string; children: ComponentChildren }): JSX.Element => (
  <span class={`badge ${tone}`} title={title}>
    {children}
  </span>
);

const STATUS: Record<string, { tone: Tone; word: string }> = {
  pending: { tone: "plain", word: "pending" },
  assigned: { tone: "plain", word: "assigned" },
  blocked: { tone: "warn", word: "blocked" },
  in_progress: { tone: "accent", word: "in progress" },
  running: { tone: "accent", word: "running" },
  completed: { tone: "ok", word: "completed" },
  failed: { tone: "error", word: "failed" },
  canceled: { tone: "muted", word: "canceled" },
};

export const statusTone = (status: string): Tone => STATUS[status]?.tone ?? "plain";
export const statusWord = (status: string): string => STATUS[status]?.word ?? status;

/** A status with its colour. The word repeats the meaning of the colour. */
export const StatusBadge = ({ status }: { status: string }): JSX.Element => <Badge tone={statusTone(status)}>{statusWord(status)}</Badge>;

interface ChipProps {
  children: ComponentChildren;
  /** Called on a click. `out` is true if Alt is held, which excludes the value. */
  onPick: (out: boolean) => void;
  title: string;
  tone?: Tone;
}

/** A value that filters the list when it is clicked. */
export const Chip = ({ children, onPick, title, tone = "plain" }: ChipProps): JSX.Element => (
  <button
    type="button"
    class={`chip ${tone}`}
    title={title}
    onClick={(event) => {
      event.stopPropagation();
      onPick(event.altKey);
    }}
  >
    {children}
  </button>
);

/** A link inside the page. The browser handles clicks with a modifier key. */
export const Link = ({ to, children, class: name, title }: { to: RouteChange | string; children: ComponentChildren; class?: string; title?: string }): JSX.Element => {
  const href = typeof to === "string" ? to : hrefOf(to);
  return (
    <a
      href={href}
      class={name}
      title={title}
      onClick={(event) => {
        if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
        event.preventDefault();
        event.stopPropagation();
        if (typeof to === "string") visit(to);
        else go(to);
      }}
    >
      {children}
    </a>
  );
};

export type Noun = "task" | "trace" | "thread" | "agent" | "event";

/** Returns the route that shows a thing. */
export const placeOf = (noun: Noun, id: string): RouteChange => {
  if (noun === "task") return { panel: "task", rest: [id] };
  if (noun === "trace") return { panel: "trace", rest: [id] };
  if (noun === "thread") return { panel: "threads", rest: [id] };
  if (noun === "agent") return { panel: "crew", rest: [id] };
  return { panel: "live", query: { seq: id } };
};

/** A name of a task, trace, thread, agent or event as a link. */
export const Ref = ({ noun, id }: { noun: Noun; id: string }): JSX.Element => (
  <Link to={placeOf(noun, id)} class={`ref ${noun}`} title={`${noun} ${id}`}>
    <Text value={noun === "event" ? `#${id}` : id} max={64} fixed />
  </Link>
);

interface PanelProps {
  title: string;
  /** Command that shows the data of the panel. */
  command?: string;
  /** Text beside the title, such as counts. */
  note?: ComponentChildren;
  tools?: ComponentChildren;
  /** True if the content scrolls inside the panel, like a long list. */
  fill?: boolean;
  children: ComponentChildren;
}

/** The frame of a panel: its title, its tools, and the equivalent command. */
export const Panel = ({ title, command, note, tools, fill = false, children }: PanelProps): JSX.Element => (
  <section class={fill ? "panel fill" : "panel"} aria-labelledby="panel-title">
    <header class="panel-head">
      <h1 id="panel-title" tabIndex={-1}>{title}</h1>
      {note !== undefined && <span class="note">{note}</span>}
      <span class="space" />
      {command !== undefined && <Command command={command} short />}
      {tools !== undefined && <div class="tools">{tools}</div>}
    </header>
    <div class="panel-body">{children}</div>
  </section>
);

/** Explains why there is nothing to show, and names a command that changes this. */
export const Empty = ({ title, why, command }: { title: string; why: ComponentChildren; command?: string | undefined }): JSX.Element => (
  <div class="empty">
    <h2>{title}</h2>
    <p>{why}</p>
    {command !== undefined && <Command command={command} />}
  </div>
);

/** Shows an error of the daemon with its code and hint. */
export const Failure = ({ error }: { error: ApiError }): JSX.Element => (
  <div class="failure" role="alert">
    <strong>{error.code}</strong> <Text value={error.message} />
    {error.hint !== undefined && <p class="hint">Hint: <Text value={error.hint} /></p>}
  </div>
);

export const Loading = (): JSX.Element => <p class="loading" role="status">Reading…</p>;

/** Shows that a query is being read or was refused. Returns null if there is data. */
export const Pending = ({ query }: { query: { data: unknown; error: ApiError | null; loading: boolean } }): JSX.Element | null =>
  query.error !== null ? <Failure error={query.error} /> : query.data === null ? <Loading /> : null;

export const countOf = (value: number, one: string, many = `${one}s`): string => `${value.toLocaleString("en")} ${value === 1 ? one : many}`;

/** Formats numbers as `950`, `12.4k` or `3.1M`. */
export const shortNumber = (value: number): string =>
  value < 1000 ? String(value) : value < 1_000_000 ? `${trimmed(value / 1000)}k` : `${trimmed(value / 1_000_000)}M`;

const trimmed = (value: number): string => (value < 100 ? value.toFixed(1).replace(/\.0$/, "") : value.toFixed(0));
