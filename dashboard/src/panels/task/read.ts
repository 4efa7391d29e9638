// Reads the tasks around a task. All tasks of a small team are read. For a large team, reading all tasks would be
// slow. So the page reads the tasks that still wait, and then, one by one, the tasks on which these tasks and the
// task itself wait.

import { useEffect, useState } from "preact/hooks";
import { read, useAt, useRead } from "../page.tsx";
import type { TaskLike } from "./neighbours.ts";

const PAGE = 1000;
const MOST = 30;
const STEPS = 2;

interface TaskPage {
  tasks: TaskLike[];
  nextCursor?: string | null;
  next_cursor?: string | null;
}

export interface TasksAround {
  tasks: TaskLike[] | null;
  error: unknown;
  /** True if some tasks were not read. */
  part: boolean;
}

const MOVES = ["task_", "message_sent"];

/** Returns the tasks that may be around a task. */
export const useTasksAround = (id: string): TasksAround => {
  const at = useAt();
  const all = useRead<TaskPage>("/v1/tasks", { limit: PAGE }, { on: MOVES });
  const part = Boolean(all.data?.nextCursor ?? all.data?.next_cursor);
  const waiting = useRead<TaskPage>(part ? "/v1/tasks" : null, { limit: PAGE, status: "blocked" }, { on: MOVES });
  const [single, setSingle] = useState<readonly TaskLike[] | null>(null);

  useEffect(() => {
    if (!part || !waiting.data) return;
    const stop = new AbortController();
    void (async () => {
      const known = new Map(waiting.data?.tasks.map((task) => [task.id, task]) ?? []);
      let ring = [
        id,
        ...[...known.values()].filter((task) => task.deps?.includes(id)).flatMap((task) => task.deps ?? []),
      ];
      const found: TaskLike[] = [];
      for (let step = 0; step <= STEPS && found.length < MOST; step += 1) {
        const wanted = [...new Set(ring)].filter((each) => !known.has(each)).slice(0, MOST - found.length);
        const answers = await Promise.all(wanted.map((each) => one(each, at, stop.signal)));
        for (const task of answers) {
          if (!task) continue;
          known.set(task.id, task);
          found.push(task);
        }
        ring = ring.flatMap((each) => known.get(each)?.deps ?? []);
      }
      if (!stop.signal.aborted) setSingle(found);
    })();
    return () => stop.abort();
  }, [part, waiting.data, id, at]);

  if (!part) return { tasks: all.data?.tasks ?? null, error: all.error, part };
  const tasks = waiting.data && single ? [...waiting.data.tasks, ...single] : null;
  return { tasks, error: waiting.error, part };
};

// Returns null for a task that cannot be read. Such a task is drawn as unknown, and the other tasks are still shown.
async function one(id: string, at: string | null, signal: AbortSignal): Promise<TaskLike | null> {
  try {
    const answer = await read<{ task: TaskLike } | TaskLike>(`/v1/tasks/${encodeURIComponent(id)}`, { at }, signal);
    return "task" in answer ? answer.task : answer;
  } catch {
    return null;
  }
}
