// The changes of a task between two events. Reads the task at both points and compares the answers.

import { commandOf, CopyCommand, Failed, go, Link, Shown, useRead } from "../page.tsx";
import { changesBetween, shown } from "./changes.ts";

export function Differences({ id, from, to }: { id: string; from: number | null; to: number | null }) {
  const path = `/v1/tasks/${encodeURIComponent(id)}`;
  const pair = from !== null && to !== null;
  const [low, high] = pair ? [Math.min(from, to), Math.max(from, to)] : [0, 0];
  const before = useRead<unknown>(pair ? path : null, { at: low }, { always: true });
  const after = useRead<unknown>(pair ? path : null, { at: high }, { always: true });
  if (!pair) {
    return (
      <p class="mild">Mark an event under “from” to see what changed since; a second one under “to” ends it there.</p>
    );
  }
  // Before its first event the task does not exist, so all of its fields are new.
  const none = isNotFound(before.error);
  const error = (none ? undefined : before.error) ?? after.error;
  if (error) return <Failed error={error} />;
  if ((!before.data && !none) || !after.data) return <div aria-busy="true" class="differences" />;
  const changes = changesBetween(taskOf(before.data), taskOf(after.data));
  return (
    <section class="differences" aria-label="Differences">
      <header class="differences-head">
        <h3>
          From{" "}
          <Link panel={null} params={{ at: low }}>
            #{low}
          </Link>{" "}
          to{" "}
          <Link panel={null} params={{ at: high }}>
            #{high}
          </Link>
        </h3>
        <CopyCommand line={commandOf("diff", "TEAM", "--from", low, "--to", high)} />
        <button type="button" onClick={() => go({ from: null, to: null })}>
          Close
        </button>
      </header>
      {changes.length === 0 ? (
        <p class="mild">No field of the task differs between these two events.</p>
      ) : (
        <table class="table">
          <thead>
            <tr>
              <th scope="col">Field</th>
              <th scope="col">At #{low}</th>
              <th scope="col">At #{high}</th>
            </tr>
          </thead>
          <tbody>
            {changes.map((change) => (
              <tr key={change.field}>
                <th scope="row">{change.field}</th>
                <td class="was">
                  <del>
                    <Shown text={shown(change.from)} lines />
                  </del>
                </td>
                <td class="is">
                  <ins>
                    <Shown text={shown(change.to)} lines />
                  </ins>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

function taskOf(answer: unknown): unknown {
  return typeof answer === "object" && answer !== null && "task" in answer ? answer.task : answer;
}

function isNotFound(error: unknown): boolean {
  const code = (error as { code?: unknown; error?: { code?: unknown } } | undefined)?.code;
  return (code ?? (error as { error?: { code?: unknown } } | undefined)?.error?.code) === "task_not_found";
}
