// The palette, which finds tasks, agents, traces, threads and panels by a few letters, and texts by their words.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { JSX } from "preact";
import type { SearchHit, SearchPage, Status } from "../api/types.ts";
import { get } from "../api/client.ts";
import { panels } from "../panels/index.ts";
import { useQuery } from "../state/query.ts";
import { at, go, team, visit, type RouteChange } from "../state/route.ts";
import { isRoot, teams } from "../state/session.ts";
import { Dialog } from "../ui/dialog.tsx";
import { placeOf, type Noun } from "../ui/parts.tsx";
import { Text } from "../ui/text.tsx";
import { found, queryOf, type Found } from "./find.ts";
import { open } from "./overlay.ts";

interface Entry extends Found {
  to: RouteChange | string;
  /** Distinguishes entries with the same noun and id. */
  key?: string;
}

const entry = (noun: Noun, id: string, title = ""): Entry => ({ noun, id, title, to: placeOf(noun, id) });

const read = async <T,>(path: string, params: Record<string, string | number | null>): Promise<T | null> => {
  try {
    return (await get<T>(path, params)).data;
  } catch {
    // If one kind of thing cannot be read, the other kinds are still found.
    return null;
  }
};

/** Returns all things that can be found. They are read once when the palette opens. */
const useEntries = (): Entry[] => {
  const [entries, setEntries] = useState<Entry[]>([]);
  const members = useQuery<Status>(team.value === "" ? null : "/v1/status").data?.members;
  useEffect(() => {
    if (team.value === "") return;
    let stopped = false;
    const point = { at: at.peek() };
    const add = (more: Entry[]): void => {
      if (!stopped) setEntries((old) => [...old, ...more]);
    };
    void read<{ tasks: { id: string; title: string }[] }>("/v1/tasks", { sort: "updated", order: "desc", limit: 1000, ...point }).then((page) => add((page?.tasks ?? []).map((task) => entry("task", task.id, task.title))));
    void read<{ traces: { trace_id: string; outcome?: string }[] }>("/v1/traces", { limit: 200, ...point }).then((page) => add((page?.traces ?? []).map((trace) => entry("trace", trace.trace_id, trace.outcome))));
    void read<{ threads: { id: string; title: string }[] }>("/v1/threads", { limit: 200, ...point }).then((page) => add((page?.threads ?? []).map((thread) => entry("thread", thread.id, thread.title))));
    return () => {
      stopped = true;
    };
  }, []);
  return useMemo(() => {
    const own: Entry[] = team.value === "" ? [] : panels.filter((panel) => panel.order !== undefined && !(panel.root ?? false)).map((panel) => ({ noun: "panel", id: panel.title, title: panel.key === undefined ? "" : `g ${panel.key}`, to: { panel: panel.id, rest: [] } }));
    const others: Entry[] = isRoot.value ? teams.value.map((name) => ({ noun: "team", id: name, title: "", to: `#/t/${encodeURIComponent(name)}/crew` })) : [];
    return [...own, ...others, ...(members ?? []).map((name) => entry("agent", name)), ...entries];
  }, [entries, members]);
};

/** Milliseconds after the last key until the daemon searches. */
const TYPING = 200;

/** Returns the entry of a match. A text leads to its thread, or to its event. */
const hitEntry = (hit: SearchHit): Entry => {
  const title = hit.title ?? hit.excerpt ?? "";
  if (hit.kind === "task") return entry("task", hit.id, title);
  const thread = hit.thread_id;
  const place = thread === undefined ? placeOf("event", String(hit.seq)) : placeOf("thread", thread);
  return { noun: hit.kind, id: hit.by ?? hit.id, title, to: place, key: hit.id };
};

/** Returns the matches of the daemon's search in all texts, newest first. */
const useHits = (text: string): Entry[] => {
  const [hits, setHits] = useState<Entry[]>([]);
  useEffect(() => {
    const query = queryOf(text);
    setHits([]);
    if (query === "" || team.value === "") return;
    let stopped = false;
    const timer = setTimeout(() => {
      void read<SearchPage>("/v1/search", { q: query, limit: 30, at: at.peek() }).then((page) => {
        if (!stopped) setHits((page?.hits ?? []).map(hitEntry));
      });
    }, TYPING);
    return () => {
      stopped = true;
      clearTimeout(timer);
    };
  }, [text]);
  return hits;
};

export const Palette = (): JSX.Element => {
  const entries = useEntries();
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState(0);
  const list = useRef<HTMLUListElement>(null);
  const hits = useHits(text);
  const shown = useMemo(() => {
    const named = found(entries, text, 60);
    const tasks = new Set(named.map((one) => `${one.noun}/${one.id}`));
    return [...named, ...hits.filter((hit) => hit.key !== undefined || !tasks.has(`${hit.noun}/${hit.id}`))];
  }, [entries, hits, text]);
  const index = Math.min(chosen, Math.max(0, shown.length - 1));
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
  }, [index, shown]);
  const leave = (to: Entry | undefined): void => {
    if (to === undefined) return;
    open(null);
    if (typeof to.to === "string") visit(to.to);
    else go(to.to);
  };
  return (
    <Dialog title="Find" onClose={() => open(null)} class="palette" bare>
      <input
        type="text"
        role="combobox"
        aria-label="Find a task, agent, trace, thread, panel or text"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={shown.length > 0 ? `palette-${index}` : undefined}
        placeholder="Find a task, agent, trace, thread, panel or text"
        autocomplete="off"
        spellcheck={false}
        autofocus
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setChosen(0);
        }}
        onKeyDown={(event) => {
          if (event.key === "ArrowDown") setChosen(Math.min(index + 1, shown.length - 1));
          else if (event.key === "ArrowUp") setChosen(Math.max(index - 1, 0));
          else if (event.key === "Enter") leave(shown[index]);
          else return;
          event.preventDefault();
        }}
      />
      <ul id="palette-list" role="listbox" aria-label="Found" ref={list}>
        {shown.map((one, place) => (
          <li key={`${one.noun}/${one.key ?? one.id}`} id={`palette-${place}`} role="option" aria-selected={place === index} onClick={() => leave(one)}>
            <span class="noun">{one.noun}</span>
            <span class="id"><Text value={one.id} max={60} fixed /></span>
            <span class="title"><Text value={one.title} max={120} fixed /></span>
          </li>
        ))}
        {shown.length === 0 && <li class="nothing" role="option" aria-selected="false" aria-disabled="true">No match</li>}
      </ul>
    </Dialog>
  );
};
