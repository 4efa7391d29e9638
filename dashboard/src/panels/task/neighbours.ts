// Finds the tasks around a task: tasks on which it waits and tasks that wait for it, up to a few steps.

export interface TaskLike {
  id: string;
  title?: string;
  status: string;
  owner?: string | null;
  deps?: readonly string[];
}

export interface Neighbourhood {
  tasks: TaskLike[];
  /** Edges from a task to a task that waits for it. */
  edges: { from: string; to: string }[];
  /** True if there are more tasks than shown. */
  more: boolean;
}

/** Returns at most `most` tasks that are at most `steps` away from `centre`, nearest first. */
export function neighbourhood(tasks: readonly TaskLike[], centre: string, steps = 2, most = 40): Neighbourhood {
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const waiters = new Map<string, string[]>();
  for (const task of tasks) {
    for (const dep of task.deps ?? []) {
      const list = waiters.get(dep);
      if (list) list.push(task.id);
      else waiters.set(dep, [task.id]);
    }
  }
  const kept = new Set([centre]);
  let ring = [centre];
  let more = false;
  for (let step = 0; step < steps && ring.length > 0; step += 1) {
    const next: string[] = [];
    for (const id of ring) {
      for (const near of [...(byId.get(id)?.deps ?? []), ...(waiters.get(id) ?? [])]) {
        if (kept.has(near)) continue;
        if (kept.size >= most) {
          more = true;
          continue;
        }
        kept.add(near);
        next.push(near);
      }
    }
    ring = next;
  }
  const edges: { from: string; to: string }[] = [];
  for (const id of kept) {
    for (const dep of byId.get(id)?.deps ?? []) {
      if (kept.has(dep)) edges.push({ from: dep, to: id });
      else more = true;
    }
    if ((waiters.get(id) ?? []).some((waiter) => !kept.has(waiter))) more = true;
  }
  return {
    tasks: [...kept].map((id) => byId.get(id) ?? { id, status: "unknown", title: "no such task" }),
    edges,
    more,
  };
}
