// Groups tasks by status and by agent. Within a status, tasks with trouble come first. Among tasks that can be
// claimed, urgent tasks come first.

import type { Task, TaskStatus } from "../../api/types.ts";

export const COLUMNS: readonly TaskStatus[] = ["pending", "assigned", "blocked", "in_progress", "completed", "failed", "canceled"];

/** Columns that are shown even without tasks, so that the board stays easy to read. */
const ALWAYS: readonly TaskStatus[] = ["pending", "blocked", "in_progress", "completed"];

const RANKS: Record<string, number> = { critical: 0, high: 1, normal: 2, low: 3 };

const rankOf = (task: Task): number => RANKS[String(task.priority ?? "normal")] ?? 2;

const urgentFirst = (tasks: Task[]): Task[] => {
  const ranks: Task[][] = [[], [], [], []];
  for (const task of tasks) ranks[rankOf(task)]?.push(task);
  return ranks.flat();
};

/** Returns true if a task needs attention. */
type IsTroubled = (task: Task) => boolean;

export const columnsOf = (tasks: readonly Task[], isTroubled: IsTroubled): Map<TaskStatus, Task[]> => {
  const columns = new Map<TaskStatus, Task[]>(ALWAYS.map((status) => [status, []]));
  for (const task of tasks) {
    const column = columns.get(task.status);
    if (column === undefined) columns.set(task.status, [task]);
    else column.push(task);
  }
  for (const status of ["pending", "assigned"] as const) {
    const column = columns.get(status);
    if (column !== undefined) columns.set(status, urgentFirst(column));
  }
  for (const [status, column] of columns) {
    const troubled = column.filter(isTroubled);
    if (troubled.length > 0) columns.set(status, [...troubled, ...column.filter((task) => !isTroubled(task))]);
  }
  return columns;
};

export interface Lane {
  /** The owner of the tasks in the lane. Empty for tasks without an owner. */
  owner: string;
  count: number;
  columns: Map<TaskStatus, Task[]>;
  /** True if a task of the lane needs attention. */
  troubled: boolean;
}

/**
 * Returns the lanes. A task whose lease expired stays in the lane of its last holder, whom `lapsed` names. First come
 * lanes with a task in trouble, then the agents that work on a task, then the other agents by name, then tasks without an
 * owner.
 */
export const lanesOf = (tasks: readonly Task[], isTroubled: IsTroubled, lapsed: ReadonlyMap<string, string>): Lane[] => {
  const owners = new Map<string, Task[]>();
  for (const task of tasks) {
    const owner = task.owner ?? lapsed.get(task.id) ?? "";
    const own = owners.get(owner);
    if (own === undefined) owners.set(owner, [task]);
    else own.push(task);
  }
  const lanes = [...owners].map(([owner, own]) => ({ owner, count: own.length, columns: columnsOf(own, isTroubled), troubled: own.some(isTroubled) }));
  const place = (lane: Lane): number => (lane.troubled ? 0 : lane.owner === "" ? 3 : (lane.columns.get("in_progress")?.length ?? 0) > 0 ? 1 : 2);
  return lanes.sort((a, b) => place(a) - place(b) || (a.owner < b.owner ? -1 : 1));
};
