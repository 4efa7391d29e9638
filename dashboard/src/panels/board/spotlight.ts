// While a task is hovered or focused, marks the tasks on which it waits and the tasks that wait for it. Only cards in
// the document are marked, by an attribute that rendering does not change, because rendering the whole board for each
// movement of the mouse would be too slow.

import type { Task } from "../../api/types.ts";

export const neighbours = (task: Task, after: ReadonlyMap<string, readonly string[]>): Map<string, "before" | "after"> => {
  const near = new Map<string, "before" | "after">();
  for (const id of after.get(task.id) ?? []) near.set(id, "after");
  for (const id of task.deps) near.set(id, "before");
  return near;
};

export const spotlight = (board: HTMLElement | null, task: Task | null, after: ReadonlyMap<string, readonly string[]>): void => {
  if (board === null) return;
  const near = task === null ? new Map<string, string>() : neighbours(task, after);
  board.toggleAttribute("data-spot", near.size > 0);
  for (const card of board.querySelectorAll<HTMLElement>(".card")) {
    const id = card.dataset["id"] ?? "";
    const side = id === task?.id && near.size > 0 ? "self" : near.get(id);
    if (side === undefined) delete card.dataset["near"];
    else card.dataset["near"] = side;
  }
};
