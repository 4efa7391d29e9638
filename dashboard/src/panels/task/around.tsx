// A drawing of the tasks on which a task waits, and of the tasks that wait for it.

import { useMemo } from "preact/hooks";
import { commandOf, Empty, Failed, link, visible } from "../page.tsx";
import { Graph } from "../graph/graph.tsx";
import { placeGraph } from "../graph/layout.ts";
import { outcomeOf } from "../trace/outcome.ts";
import { neighbourhood } from "./neighbours.ts";
import { useTasksAround } from "./read.ts";

const WIDTH = 168;
const HEIGHT = 44;

export function Neighbours({ id }: { id: string }) {
  const { tasks, error, part } = useTasksAround(id);
  const near = useMemo(() => (tasks ? neighbourhood(tasks, id) : null), [tasks, id]);
  const placed = useMemo(
    () =>
      near &&
      placeGraph(
        near.tasks.map((task) => ({ id: task.id, width: WIDTH, height: HEIGHT })),
        near.edges,
      ),
    [near],
  );
  if (error && !near) return <Failed error={error} />;
  if (!near || !placed) return <section class="part" aria-busy="true" />;
  const byId = new Map(near.tasks.map((task) => [task.id, task]));
  return (
    <section class="part part-wide">
      <h2>Around it</h2>
      {near.tasks.length === 1 ? (
        <Empty
          title="On its own"
          command={commandOf("task", "create", "TEAM", "--subject", "What comes next", "--blocked-by", id)}
        >
          It waits for no task, and none waits for it.
        </Empty>
      ) : (
        <Graph
          placed={placed}
          label={`Tasks around ${id}: each arrow leads to what waits`}
          href={(other) => (other === id ? null : link("task", { id: other }))}
          nodeClass={(other) =>
            `node-${outcomeOf(byId.get(other)?.status ?? "").tone} ${other === id ? "node-here" : ""}`
          }
          node={(box) => {
            const task = byId.get(box.id);
            const look = outcomeOf(task?.status ?? "unknown");
            return (
              <>
                <text class="node-title" x={box.x - WIDTH / 2 + 10} y={box.y - 5}>
                  {cut(visible(box.id), 21)}
                </text>
                <text class="node-state" x={box.x + WIDTH / 2 - 10} y={box.y - 5} text-anchor="end">
                  {look.sign} {look.word}
                </text>
                <text class="node-line" x={box.x - WIDTH / 2 + 10} y={box.y + 12}>
                  {cut(visible(task?.title ?? ""), 25)}
                </text>
              </>
            );
          }}
        />
      )}
      {near.more && <p class="mild">More tasks are connected to these.</p>}
      {part && <p class="mild">Only tasks that still wait for it are shown.</p>}
    </section>
  );
}

function cut(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}
