// The tasks of a team for the board. All tasks are read page by page. After that, only tasks that an event changed
// are read again. An answer replaces the known task; the page computes no state of a task.

import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError, get } from "../api/client.ts";
import type { LogEvent, Task, TaskPage } from "../api/types.ts";
import { onEvents } from "./live.ts";
import { settled } from "./query.ts";

/** Number of tasks per page, the maximum of the daemon. */
const PAGE = 1000;
/** Maximum number of changed tasks that are read one by one. If there are more, the whole list is read again. */
const SINGLY = 24;
/** Pause in milliseconds before reading again, after a call without an answer. */
const AGAIN = 2000;

export interface Tasks {
  /** All tasks. The task with the newest change comes first. */
  list: readonly Task[];
  byId: ReadonlyMap<string, Task>;
  /** True if the last page was read. */
  complete: boolean;
  loading: boolean;
  error: ApiError | null;
}

const NONE: Tasks = { list: [], byId: new Map(), complete: false, loading: true, error: null };

/** Puts newer answers at the start of the list, and removes the older answers for these tasks. */
export const withChanged = (tasks: Tasks, changed: readonly Task[]): Tasks => {
  if (changed.length === 0) return tasks;
  const ids = new Set(changed.map((task) => task.id));
  const byId = new Map(tasks.byId);
  for (const task of changed) byId.set(task.id, task);
  return { ...tasks, byId, list: [...changed, ...tasks.list.filter((task) => !ids.has(task.id))] };
};

/** Appends a page to the list. Tasks that were read again in the meantime keep the newer answer. */
export const withPage = (tasks: Tasks, page: readonly Task[]): Tasks => {
  const byId = new Map(tasks.byId);
  const more = page.filter((task) => !byId.has(task.id));
  for (const task of more) byId.set(task.id, task);
  return { ...tasks, byId, list: [...tasks.list, ...more] };
};

/** Returns the answers that are not older than the known state of their task. */
export const newer = (tasks: Tasks, read: readonly Task[]): Task[] =>
  read.filter((task) => (tasks.byId.get(task.id)?.version ?? 0) <= task.version);

/** Returns for each task the tasks that wait for it. */
export const dependentsOf = (tasks: Iterable<Task>): Map<string, string[]> => {
  const after = new Map<string, string[]>();
  for (const task of tasks) {
    for (const dep of task.deps) {
      const known = after.get(dep);
      if (known === undefined) after.set(dep, [task.id]);
      else known.push(task.id);
    }
  }
  return after;
};

/**
 * Returns the failed or canceled tasks on which a task waits in vain, from the daemon's answer or from the known
 * tasks.
 */
export const inVain = (task: Task, byId: ReadonlyMap<string, Task>): string[] =>
  task.status !== "blocked" && task.status !== "pending" && task.status !== "assigned"
    ? []
    : (task.failedDependencies ?? task.deps.filter((dep) => ["failed", "canceled"].includes(byId.get(dep)?.status ?? "")));

/** Returns true if a task in progress requires an approval and has no decision yet. */
export const isInReview = (task: Task): boolean =>
  task.status === "in_progress" && task.requiresApproval === true && !["approved", "rejected"].includes(task.approval?.status ?? "");

const touched = (event: LogEvent): string | null => event.task_id ?? null;

export const useTasks = (team: string, at: string | null, signIns: number): Tasks & { reload: () => void } => {
  const key = JSON.stringify([team, at]);
  const [held, setHeld] = useState<{ key: string; tasks: Tasks }>({ key, tasks: NONE });
  const current = useRef<Tasks>(NONE);
  const [again, setAgain] = useState(0);

  useEffect(() => {
    let stopped = false;
    const stop = new AbortController();
    const show = (tasks: Tasks): void => {
      if (stopped) return;
      current.current = tasks;
      setHeld({ key, tasks });
    };
    /** Tasks that were read one by one while the whole list was being read again. */
    let meanwhile: Task[] = [];
    const readAll = async (): Promise<void> => {
      // Keep showing the old list until the new list is complete.
      const first = current.current.list.length === 0;
      meanwhile = [];
      let tasks: Tasks = NONE;
      let cursor: string | null = null;
      try {
        do {
          const page: TaskPage = (await get<TaskPage>("/v1/tasks", { sort: "updated", order: "desc", limit: cursor === null && first ? 300 : PAGE, cursor, at }, stop.signal)).data;
          cursor = page.nextCursor ?? page.next_cursor ?? null;
          // While the first list is being read, events may have added newer answers.
          tasks = { ...withPage(first ? current.current : tasks, page.tasks), loading: cursor !== null, complete: cursor === null, error: null };
          if (first) show(tasks);
        } while (cursor !== null && !stopped);
        if (!first) show(withChanged(tasks, newer(tasks, meanwhile)));
      } catch (error) {
        if (!stopped && error instanceof ApiError) show({ ...current.current, loading: false, error });
      }
    };
    const waiting = new Set<string>();
    const readTouched = async (): Promise<void> => {
      const ids = new Set(waiting);
      waiting.clear();
      if (ids.size <= SINGLY) {
        // If a task changes, tasks that wait for it may change too, without an event of their own.
        const after = dependentsOf(current.current.list);
        for (const id of [...ids]) for (const one of after.get(id) ?? []) ids.add(one);
      }
      if (ids.size > SINGLY) return readAll();
      const read = await Promise.all(
        [...ids].map((id) => get<{ task: Task }>(`/v1/tasks/${encodeURIComponent(id)}`, {}, stop.signal).then((answer) => answer.data.task, (error: unknown) => {
          // Ask a busy daemon again.
          if (!(error instanceof ApiError) || error.status >= 500 || error.status === 0) waiting.add(id);
          return null;
        })),
      );
      if (stopped) return;
      const changed = newer(current.current, read.filter((task) => task !== null));
      meanwhile.push(...changed);
      show(withChanged(current.current, changed));
      if (waiting.size > 0) setTimeout(() => soon.touch(), AGAIN);
    };
    if (current.current.list.length > 0 && held.key !== key) current.current = NONE;
    void readAll();
    const soon = settled(() => void readTouched());
    const end = at !== null ? () => {} : onEvents((events) => {
      for (const event of events) {
        const id = touched(event);
        if (id !== null) waiting.add(id);
      }
      if (waiting.size > 0) soon.touch();
    });
    return () => {
      stopped = true;
      stop.abort();
      soon.stop();
      end();
    };
  }, [key, signIns, again]);

  const tasks = held.key === key ? held.tasks : NONE;
  return { ...tasks, reload: () => setAgain((count) => count + 1) };
};
