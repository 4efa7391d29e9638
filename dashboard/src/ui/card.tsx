// A task as a card on the board.

import type { JSX } from "preact";
import { useRef } from "preact/hooks";
import type { Task } from "../api/types.ts";
import { slowNow } from "../state/clock.ts";
import { inVain, isInReview } from "../state/tasks.ts";
import { Badge, Ref, statusTone, statusWord } from "./parts.tsx";
import { brief, Text } from "./text.tsx";
import { Countdown } from "./time.tsx";

interface CardProps {
  task: Task;
  byId: ReadonlyMap<string, Task>;
  /** Last holder of the task, if the lease expired and no agent has claimed the task since, according to the daemon. */
  lapsedOf: string | undefined;
  /** True to show leases at a past point, without a running clock. */
  still: boolean;
  /** True if the card can be dragged. */
  movable: boolean;
  hideOwner?: boolean;
  onMenu: (task: Task, anchor: HTMLElement) => void;
  onSpot: (id: string | null) => void;
}

const Blocker = ({ id, byId }: { id: string; byId: ReadonlyMap<string, Task> }): JSX.Element => {
  const status = byId.get(id)?.status ?? "unknown";
  return (
    <span class={`blocker ${statusTone(status)}`} title={`${id} is ${statusWord(status)}`}>
      <Ref noun="task" id={id} /> {statusWord(status)}
    </span>
  );
};

const LeaseLine = ({ task, lapsed, still }: { task: Task; lapsed: boolean; still: boolean }): JSX.Element | null => {
  if (task.leaseExpired === true || (lapsed && task.lease === null)) return <span class="countdown over">lease expired</span>;
  if (task.lease === null) return null;
  return still ? <span class="sub" title={task.lease.expiresAt}>leased</span> : <Countdown until={task.lease.expiresAt} />;
};

/** Shows a rejection of the task, or that it waits for an approval. */
const ApprovalLine = ({ task }: { task: Task }): JSX.Element | null => {
  const { approval } = task;
  const says = approval === undefined ? undefined : `${approval.reviewer}: ${approval.decisionReason}`;
  if (approval?.status === "rejected" && (approval.required || task.requiresApproval === true)) return <div class="card-waits"><Badge tone="error" title={says ?? ""}>rejected</Badge></div>;
  if (task.requiresApproval !== true || approval?.status === "approved") return null;
  const word = isInReview(task) ? "review" : "needs approval";
  return <div class="card-waits"><Badge tone="warn" title={says ?? "It can be completed only after an approval"}>{word}</Badge></div>;
};

/** Labels, times, parent and progress of the parts of a task. A task that is overdue is marked. */
const PlanLine = ({ task, still }: { task: Task; still: boolean }): JSX.Element | null => {
  const { labels = [], dueAt, deferUntil, parent, children, comments = 0 } = task;
  if (labels.length === 0 && dueAt === undefined && deferUntil === undefined && parent === undefined && children === undefined && comments === 0) return null;
  const isOver = ["completed", "failed", "canceled"].includes(task.status);
  const isLate = dueAt !== undefined && !still && !isOver && Date.parse(dueAt) < slowNow.value;
  return (
    <div class="card-waits">
      {labels.map((label) => <Badge key={label}><Text value={label} max={24} fixed /></Badge>)}
      {dueAt !== undefined && (isLate ? <Badge tone="warn" title={dueAt}>due {dueAt.slice(0, 10)}</Badge> : <span class="sub" title={dueAt}>due {dueAt.slice(0, 10)}</span>)}
      {deferUntil !== undefined && <span class="sub" title={deferUntil}>not before {deferUntil.slice(0, 10)}</span>}
      {parent !== undefined && <span class="sub">part of <Ref noun="task" id={parent} /></span>}
      {children !== undefined && <span class="sub">{children.completed} of {children.total} parts</span>}
      {comments > 0 && <span class="sub">{comments} {comments === 1 ? "comment" : "comments"}</span>}
    </div>
  );
};

const Reported = ({ task }: { task: Task }): JSX.Element | null => {
  const says = task.reportedStatus !== undefined && task.reportedStatus !== task.status;
  const parts = says || task.reportedBlocked === true || task.reportedProgress !== undefined || task.reportedNote !== undefined || task.reportedEta !== undefined;
  if (!parts) return null;
  return (
    <div class="card-report" title={task.reportedBy === undefined ? undefined : `Reported by ${task.reportedBy}`}>
      {task.reportedBlocked === true && <Badge tone="warn">reported blocked</Badge>}
      {says && <Badge tone={statusTone(task.reportedStatus ?? "")}>says {statusWord(task.reportedStatus ?? "")}</Badge>}
      {task.reportedProgress !== undefined && <Badge><Text value={brief(task.reportedProgress)} max={24} fixed /></Badge>}
      {task.reportedEta !== undefined && <span class="sub">eta <Text value={brief(task.reportedEta)} max={24} fixed /></span>}
      {task.reportedNote !== undefined && <span class="card-note"><Text value={task.reportedNote} max={160} fixed /></span>}
    </div>
  );
};

export const Card = ({ task, byId, lapsedOf, still, movable, hideOwner = false, onMenu, onSpot }: CardProps): JSX.Element => {
  const menu = useRef<HTMLButtonElement>(null);
  const vain = inVain(task, byId);
  const open = task.deps.filter((dep) => byId.get(dep)?.status !== "completed");
  const done = task.deps.length - open.length;
  return (
    <article
      class={`card ${statusTone(task.status)}`}
      data-id={task.id}
      tabIndex={0}
      aria-label={`Task ${task.id}, ${statusWord(task.status)}`}
      draggable={movable}
      onDragStart={(event) => event.dataTransfer?.setData("text/x-teamlog-task", task.id)}
      onMouseEnter={() => onSpot(task.id)}
      onMouseLeave={() => onSpot(null)}
      onFocus={() => onSpot(task.id)}
      onBlur={() => onSpot(null)}
      onKeyDown={(event) => {
        if (event.target !== event.currentTarget) return;
        if (event.key === "Enter" && menu.current !== null) {
          event.preventDefault();
          onMenu(task, menu.current);
        }
      }}
    >
      <div class="card-head">
        <Ref noun="task" id={task.id} />
        {task.priority !== undefined && task.priority !== "normal" && <span class={`priority ${task.priority}`}>{task.priority}</span>}
        {task.epoch > 1 && <span class="sub" title="Number of claims so far">epoch {task.epoch}</span>}
        <span class="space" />
        <LeaseLine task={task} lapsed={lapsedOf !== undefined} still={still} />
        <button ref={menu} type="button" class="quiet dots" tabIndex={-1} aria-label={`Actions for task ${task.id}`} title="Actions (Enter)" onClick={() => menu.current !== null && onMenu(task, menu.current)}>⋯</button>
      </div>
      <div class="card-title"><Text value={task.title} max={180} fixed /></div>
      {!hideOwner && task.owner !== null && <div class="card-owner sub"><Ref noun="agent" id={task.owner} /></div>}
      {!hideOwner && task.owner === null && lapsedOf !== undefined && lapsedOf !== "" && <div class="card-owner sub">last held by <Ref noun="agent" id={lapsedOf} /></div>}
      {task.deps.length > 0 && (vain.length > 0 || open.length > 0) && (
        <div class="card-waits">
          {vain.length > 0 && <Badge tone="error" title="A dependency failed or was canceled">stuck</Badge>}
          {open.slice(0, 4).map((dep) => <Blocker key={dep} id={dep} byId={byId} />)}
          {open.length > 4 && <span class="sub">{open.length - 4} more</span>}
          {done > 0 && <span class="sub">{done} of {task.deps.length} done</span>}
        </div>
      )}
      <ApprovalLine task={task} />
      <PlanLine task={task} still={still} />
      <Reported task={task} />
    </article>
  );
};
