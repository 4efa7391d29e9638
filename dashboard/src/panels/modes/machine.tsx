// A state machine as boxes and arrows. The current state and its next steps are highlighted.

import { useMemo } from "preact/hooks";
import { useNarrow } from "../page.tsx";
import { Graph } from "../graph/graph.tsx";
import { placeGraph } from "../graph/layout.ts";

export interface Machine {
  name: string;
  title: string;
  initial: string;
  states: { name: string; terminal: boolean }[];
  steps: { from: string; to: string; by: string; doc?: string | null }[];
}

interface Props {
  machine: Machine;
  here: readonly string[];
  /** The next steps according to the daemon. Without it, the arrows of the drawing. */
  next?: readonly string[];
  /** Called when the user selects a step. Without it, steps cannot be selected. */
  onStep?: (by: string) => void;
  chosen?: string | null;
}

export function MachineDrawn({ machine, here, next, onStep, chosen }: Props) {
  const narrow = useNarrow();
  // Several reports can lead from one state to another. Such reports share one arrow, so that the drawing stays
  // readable. A step that leads back to its state is only in the list below the drawing.
  const { placed, docs } = useMemo(() => {
    const merged = new Map<string, { from: string; to: string; label: string; doc: string }>();
    for (const step of machine.steps) {
      if (step.from === step.to) continue;
      const key = `${step.from} ${step.to}`;
      const known = merged.get(key);
      const doc = step.doc ? `${step.by}: ${step.doc}` : step.by;
      if (known) merged.set(key, { ...known, label: `${known.label}, ${step.by}`, doc: `${known.doc}\n${doc}` });
      else merged.set(key, { from: step.from, to: step.to, label: step.by, doc });
    }
    const edges = [...merged.values()].map((edge) => ({ ...edge, label: short(edge.label) }));
    const boxes = machine.states.map((state) => ({ id: state.name, width: state.name.length * 7.6 + 34, height: 34 }));
    const wide = machine.states.length > 6 || narrow;
    const placed = placeGraph(boxes, edges, wide ? "TB" : "LR");
    return {
      placed,
      docs: new Map(placed.edges.map((edge) => [edge.key, merged.get(`${edge.from} ${edge.to}`)?.doc])),
    };
  }, [machine, narrow]);
  const at = new Set(here);
  const terminal = new Set(machine.states.filter((state) => state.terminal).map((state) => state.name));
  const leads = machine.steps.filter((step) => at.has(step.from));
  const elsewhere = machine.steps.filter((step) => !at.has(step.from));
  const onward = new Set(
    leads.filter((step) => !next || next.includes(step.by)).map((step) => `${step.from} ${step.to}`),
  );
  return (
    <>
      <Graph
        placed={placed}
        label={`${machine.title || machine.name}: ${here.length > 0 ? `it is in ${here.join(" and ")}` : "nothing is anywhere yet"}`}
        nodeClass={(id) => `${at.has(id) ? "node-here node-open" : ""} ${terminal.has(id) ? "node-terminal" : ""}`}
        edgeClass={(_, from, to) => (onward.has(`${from} ${to}`) ? "edge-next" : "")}
        edgeTitle={(key) => docs.get(key)}
        node={(box) => (
          <>
            {terminal.has(box.id) && (
              <rect
                class="node-inner"
                x={box.x - box.width / 2 + 3}
                y={box.y - box.height / 2 + 3}
                width={box.width - 6}
                height={box.height - 6}
                rx="3"
              />
            )}
            <text class="node-name" x={box.x} y={box.y} text-anchor="middle" dominant-baseline="central">
              {at.has(box.id) ? `● ${box.id}` : box.id}
            </text>
          </>
        )}
      />
      {leads.length > 0 && (
        <section class="part">
          <h2>Steps from here</h2>
          <Steps steps={leads} next={next} onStep={onStep} chosen={chosen} />
        </section>
      )}
      {elsewhere.length > 0 && (
        <details
          class="part"
          open={elsewhere.some((step) => step.by === chosen) && !leads.some((step) => step.by === chosen)}
        >
          <summary>Steps from elsewhere{onStep && ": choose one to see why it would be refused now"}</summary>
          <Steps steps={elsewhere} onStep={onStep} chosen={chosen} />
        </details>
      )}
    </>
  );
}

interface StepsProps {
  steps: Machine["steps"];
  next?: readonly string[] | undefined;
  onStep?: ((by: string) => void) | undefined;
  chosen?: string | null | undefined;
}

function Steps({ steps, next, onStep, chosen }: StepsProps) {
  return (
    <ul class="steps">
      {steps.map((step) => (
        <li key={`${step.from} ${step.to} ${step.by}`}>
          {onStep ? (
            <button type="button" aria-pressed={chosen === step.by} onClick={() => onStep(step.by)}>
              {step.by}
            </button>
          ) : (
            <code>{step.by}</code>
          )}
          <span>
            {step.from === step.to ? `stays in ${step.to}` : `${step.from} → ${step.to}`}
            {next?.includes(step.by) && <b> leads on</b>}
          </span>
          {step.doc && <span class="mild">{step.doc}</span>}
        </li>
      ))}
    </ul>
  );
}

function short(label: string): string {
  const names = label.split(", ");
  return names.length > 2 ? `${names.slice(0, 2).join(", ")} +${names.length - 2}` : label;
}
