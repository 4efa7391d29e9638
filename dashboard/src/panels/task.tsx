// A task: its current state, its history with actors, the tasks around it, and the changes between two points of its
// history.

import { useState } from "preact/hooks";
import type { Approval, Task } from "../api/types.ts";
import { isInReview } from "../state/tasks.ts";
import { brief } from "../ui/text.tsx";
import type { PanelEntry } from "./index.ts";
import { Empty, Failed, go, Link, More, Panel, param, readingOf, Shown, subject, useRead, When } from "./page.tsx";
import { Comments } from "./task/comments.tsx";
import { Differences } from "./task/differences.tsx";
import { Neighbours } from "./task/around.tsx";
import { EventFields, Field } from "./trace/event-fields.tsx";
import { outcomeOf } from "./trace/outcome.ts";
import { said, senderOf, type TraceEvent } from "./trace/story.ts";

function Task() {
  const id = subject();
  return id === null ? <NoTask /> : <OneTask key={id} id={id} />;
}

function NoTask() {
  const [id, setId] = useState("");
  return (
    <Panel title="Task">
      <form
        class="tools"
        onSubmit={(event) => {
          event.preventDefault();
          if (id.trim()) go({ id: id.trim() });
        }}
      >
        <label>
          Id of a task <input type="text" value={id} onInput={(event) => setId(event.currentTarget.value)} />
        </label>
        <button type="submit">Show it</button>
      </form>
      <Empty title="Choose a task" command={readingOf("tasks", "TEAM")}>
        Choose one on the{" "}
        <Link panel="board" params={{}}>
          board
        </Link>
        , or name it above.
      </Empty>
    </Panel>
  );
}

function OneTask({ id }: { id: string }) {
  const path = `/v1/tasks/${encodeURIComponent(id)}`;
  const { data, error, reload } = useRead<{ task: Task }>(path, {}, { on: touches(id) });
  if (error && !data) return <Failed error={error} again={reload} />;
  const task = data?.task;
  const command = readingOf("task", "show", "TEAM", id, "--history");
  if (!task) return <Panel title="Task" command={command} busy />;
  const look = outcomeOf(task.status);
  return (
    <Panel
      title="Task"
      note={
        <span class="task-title">
          <b>
            <Shown text={task.id} />
          </b>{" "}
          <Shown text={task.title} />
        </span>
      }
      command={command}
    >
      <p class="summary task-state">
        <span class={`sign sign-${look.tone}`}>
          {look.sign} {look.word}
        </span>
        {isInReview(task) && <span class="sign sign-warn">○ in review</span>}
        {task.leaseExpired && <span class="sign sign-warn">◔ lease expired</span>}
        {task.reportedBlocked && <span class="sign sign-warn">‖ reported blocked</span>}
        {task.traceId && (
          <Link panel="trace" params={{ id: task.traceId }}>
            Trace <Shown text={task.traceId} />
          </Link>
        )}
        <Link panel="threads" params={{ q: task.id }}>
          Its threads
        </Link>
      </p>
      <div class="two">
        <Fields task={task} />
        <Neighbours id={id} />
      </div>
      <Comments id={id} />
      <History id={id} />
    </Panel>
  );
}

function Fields({ task }: { task: Task }) {
  const reported: [string, unknown][] = [
    ["status", task.reportedStatus],
    ["owner", task.reportedOwner],
    ["progress", task.reportedProgress],
    ["eta", task.reportedEta],
    ["note", task.reportedNote],
  ];
  const said = reported.filter(([, value]) => value !== undefined && value !== null);
  return (
    <section class="part">
      <h2>Now</h2>
      <dl class="fields">
        <Field name="owner">{task.owner ? <AgentLink name={task.owner} /> : <span class="mild">nobody</span>}</Field>
        {task.lease && (
          <Field name="lease">
            <AgentLink name={task.lease.holder} />, epoch {task.lease.epoch}, until <When time={task.lease.expiresAt} />
          </Field>
        )}
        {task.priority && <Field name="priority">{task.priority}</Field>}
        {task.labels && (
          <Field name="labels">
            <Shown text={task.labels.join(", ")} />
          </Field>
        )}
        {task.dueAt && (
          <Field name="due">
            <When time={task.dueAt} />
          </Field>
        )}
        {task.deferUntil && (
          <Field name="deferred to">
            <When time={task.deferUntil} />
          </Field>
        )}
        {task.parent && (
          <Field name="part of">
            <Link panel="task" params={{ id: task.parent }}>
              <Shown text={task.parent} />
            </Link>
          </Field>
        )}
        {task.children && (
          <Field name="parts">
            <progress max={task.children.total} value={task.children.completed} aria-label="Completed parts" />{" "}
            {task.children.completed} of {task.children.total} completed, {task.children.open} open
          </Field>
        )}
        {(task.comments ?? 0) > 0 && (
          <Field name="comments">
            <Link panel="threads" params={{ q: task.id }}>
              {task.comments}
            </Link>
          </Field>
        )}
        {(task.approval || task.requiresApproval) && (
          <Field name="approval">
            <Decision task={task} />
          </Field>
        )}
        {task.deps.length > 0 && (
          <Field name="waits for">
            {task.deps.map((dep) => (
              <span key={dep} class="spaced">
                <Link panel="task" params={{ id: dep }}>
                  <Shown text={dep} />
                </Link>
                {task.failedDependencies?.includes(dep) && <span class="sign sign-bad"> ✕ stuck</span>}
              </span>
            ))}
          </Field>
        )}
        {task.resources.length > 0 && (
          <Field name="resources">
            <Shown text={task.resources.join(", ")} />
          </Field>
        )}
        {Object.entries(task.timestamps).map(
          ([name, time]) =>
            time && (
              <Field key={name} name={name.replace(/At$/, "")}>
                <When time={time} />
              </Field>
            ),
        )}
        {said.length > 0 && (
          <Field name="reported">
            {said.map(([name, value]) => (
              <span key={name} class="spaced">
                {name} <Shown text={brief(value)} />
              </span>
            ))}
            {task.reportedBy && (
              <small>
                by <Shown text={task.reportedBy} />
                {task.reportedAt && (
                  <>
                    {" "}
                    <When time={task.reportedAt} />
                  </>
                )}
              </small>
            )}
          </Field>
        )}
        {task.result != null && (
          <Field name="result">
            <Shown text={typeof task.result === "string" ? task.result : JSON.stringify(task.result)} lines whole />
          </Field>
        )}
        {task.description && (
          <Field name="description">
            <Shown text={task.description} lines whole />
          </Field>
        )}
      </dl>
    </section>
  );
}

const DECISIONS: Readonly<Record<Approval["status"], { tone: string; sign: string }>> = {
  approved: { tone: "good", sign: "✓" },
  pending: { tone: "warn", sign: "○" },
  rejected: { tone: "bad", sign: "✕" },
};

function Decision({ task }: { task: Task }) {
  const { approval } = task;
  const required = task.requiresApproval ? "It is completed only with an approval." : "";
  if (!approval) return <span class="sign sign-warn">○ no decision yet. {required}</span>;
  const { tone, sign } = DECISIONS[approval.status];
  return (
    <>
      <span class={`sign sign-${tone}`}>
        {sign} {approval.status}
      </span>{" "}
      by <Shown text={approval.reviewer} /> <When time={approval.decidedAt} />: <Shown text={approval.decisionReason} />{" "}
      {required && <small>{required}</small>}
    </>
  );
}

function AgentLink({ name }: { name: string }) {
  return (
    <Link panel="inbox" params={{ id: name }}>
      <Shown text={name} />
    </Link>
  );
}

// Events about tasks on which this task waits also change this task. Such an event names the other task.
function touches(id: string): (event: { kind: string; task_id?: string }) => boolean {
  return (event) => event.task_id === id || event.kind === "task_unblocked";
}

interface HistoryRead {
  events: TraceEvent[];
  next_cursor: string | null;
}

function History({ id }: { id: string }) {
  const [limit, setLimit] = useState(50);
  const { data, error, reload } = useRead<HistoryRead>(
    `/v1/tasks/${encodeURIComponent(id)}/history`,
    { limit },
    { on: touches(id) },
  );
  const from = Number(param("from")) || null;
  const to = Number(param("to")) || null;
  const chosen = Number(param("event")) || null;
  if (error && !data) return <Failed error={error} again={reload} />;
  if (!data) return <section class="part" aria-busy="true" />;
  const { events } = data;
  if (events.length === 0) {
    return (
      <Empty title="No history" command={readingOf("task", "show", "TEAM", id, "--history")}>
        The log holds no event of this task.
      </Empty>
    );
  }
  const picked = events.find((event) => event.seq === chosen);
  const last = events[events.length - 1]?.seq ?? 0;
  return (
    <section class="part">
      <h2>History</h2>
      <Differences id={id} from={from} to={to ?? (from === null ? null : last)} />
      {data.next_cursor && limit < 1000 && (
        <More onMore={() => setLimit(Math.min(1000, limit * 4))}>Show older events</More>
      )}
      <div class={picked ? "beside" : "beside beside-none"}>
        <div class="table-frame" tabIndex={0} role="region" aria-label="History">
          <table class="table history">
            <thead>
              <tr>
                <th scope="col">
                  <abbr title="Compare from here">from</abbr>
                </th>
                <th scope="col">
                  <abbr title="Compare to here">to</abbr>
                </th>
                <th scope="col">Event</th>
                <th scope="col">When</th>
                <th scope="col">Who</th>
                <th scope="col">What</th>
              </tr>
            </thead>
            <tbody>
              {events.map((event) => (
                <HistoryRow key={event.seq} event={event} from={from} to={to ?? last} chosen={event.seq === chosen} />
              ))}
            </tbody>
          </table>
        </div>
        {picked && <EventFields event={picked} onClose={() => go({ event: null })} />}
      </div>
    </section>
  );
}

interface RowProps {
  event: TraceEvent;
  from: number | null;
  to: number;
  chosen: boolean;
}

function HistoryRow({ event, from, to, chosen }: RowProps) {
  const sender = senderOf(event);
  const nothing = event.superseded ? "superseded" : event.duplicate ? "duplicate" : event.refused ? "refused" : null;
  return (
    <tr class={`${nothing ? "row-struck" : ""} ${chosen ? "row-chosen" : ""}`} data-seq={event.seq}>
      <td>
        <input
          type="radio"
          name="from"
          aria-label={`Compare from #${event.seq}`}
          checked={event.seq === from}
          onChange={() => go({ from: event.seq })}
        />
      </td>
      <td>
        <input
          type="radio"
          name="to"
          aria-label={`Compare to #${event.seq}`}
          checked={from !== null && event.seq === to}
          disabled={from === null}
          onChange={() => go({ to: event.seq })}
        />
      </td>
      <th scope="row">
        <button type="button" class="linklike" onClick={() => go({ event: event.seq })}>
          #{event.seq}
        </button>{" "}
        <span class="history-kind">
          <Shown text={event.kind} />
        </span>
      </th>
      <td>
        <When time={event.created_at} />
      </td>
      <td>
        {sender ? (
          <>
            <Shown text={sender} />{" "}
            <small>
              recorded by <Shown text={event.actor} />
            </small>
          </>
        ) : (
          <Shown text={event.actor} />
        )}
      </td>
      <td class="history-said">
        <span class="said-text">
          <Shown text={said(event)} />
        </span>
        {nothing && <span class="tag"> {nothing}: changed nothing</span>}
      </td>
    </tr>
  );
}

export const panel: PanelEntry = { id: "task", title: "Task", key: "k", component: Task };
