// The list of keys of the page and of the shown panel.

import type { JSX } from "preact";
import { panelOf, panels } from "../panels/index.ts";
import { route } from "../state/route.ts";
import { Dialog } from "../ui/dialog.tsx";
import { open } from "./overlay.ts";

const EVERYWHERE: readonly (readonly [string, string])[] = [
  ["?", "this list"],
  ["Ctrl-K", "find tasks, agents, traces, threads and panels"],
  ["t", "times: relative, local, UTC"],
  ["End", "back to now, where the past is shown"],
  ["Escape", "close what is open"],
];

const Rows = ({ rows }: { rows: readonly (readonly [string, string])[] }): JSX.Element => (
  <dl class="keys">
    {rows.map(([key, what]) => (
      <div key={key}>
        <dt>{key.split(" ").map((part) => <kbd key={part}>{part}</kbd>)}</dt>
        <dd>{what}</dd>
      </div>
    ))}
  </dl>
);

export const KeyList = (): JSX.Element => {
  const panel = panelOf(route.value.panel, route.value.team === "");
  const leading = panels.flatMap((one) => (one.key === undefined ? [] : [[`g ${one.key}`, one.title] as const]));
  return (
    <Dialog title="Keys" onClose={() => open(null)}>
      <div class="key-columns">
        <section>
          <h3>Everywhere</h3>
          <Rows rows={EVERYWHERE} />
          {panel?.keys !== undefined && (
            <>
              <h3>{panel.title}</h3>
              <Rows rows={panel.keys} />
            </>
          )}
        </section>
        <section>
          <h3>Go to</h3>
          <Rows rows={leading} />
        </section>
      </div>
    </Dialog>
  );
};
