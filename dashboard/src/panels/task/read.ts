// Reads the tasks around a task. A small team's are read whole; of a large one those that still wait, and one by one what
// they and the task itself wait for, since reading thousands to show ten would be slow.

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
  /** Whether not all were read. */
  part: boolean;
}

const MOVES = ["task_", "message_sent"];

/** The tasks that may be around that one. */
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

// One that cannot be read is drawn as unknown; the others are of use without it.
async function one(id: string, at: string | null, signal: AbortSignal): Promise<TaskLike | null> {
  try {
    const answer = await read<{ task: TaskLike } | TaskLike>(`/v1/tasks/${encodeURIComponent(id)}`, { at }, signal);
    return "task" in answer ? answer.task : answer;
  } catch {
    return null;
  }
}
