// Items that need attention. Each item has a command that solves the problem.

import { useState } from "preact/hooks";
import type { JSX } from "preact";
import { post } from "../api/client.ts";
import type { Attention as Answer, AttentionItem, AttentionKind } from "../api/types.ts";
import { useQuery } from "../state/query.ts";
import { go, route } from "../state/route.ts";
import { commandOf, readingOf, Command } from "../ui/command.tsx";
import { ActionDialog } from "../ui/dialog.tsx";
import { Badge, Chip, countOf, Empty, Link, Panel, Pending, Ref, StatusBadge } from "../ui/parts.tsx";
import { Text } from "../ui/text.tsx";
import { Time } from "../ui/time.tsx";
import { useKeys } from "../shell/keys.ts";
import { whyNotAct } from "../state/session.ts";
import type { PanelEntry } from "./index.ts";
import "../style/attention.css";

const MOST = 500;

const WORDS: Record<AttentionKind, string> = {
  damaged: "damaged",
  waits_in_vain: "stuck",
  lease_expired: "lease expired",
  overdue_ack: "ack overdue",
  overdue: "overdue",
  dead_letter: "dead letter",
  subscription_parked: "events parked",
  subscription_refused: "subscription refused",
  write_refused: "write refused",
  approval_rejected: "rejected",
  approval_missing: "waits for an approval",
  stale_task: "stale task",
  bootstrap_breached: "bootstrap breached",
  task_failed: "failed",
  budget_used: "budget used up",
  question_open: "question without an answer",
  reported_blocked: "reported blocked",
  not_applied: "not applied",
  unknown_dependency: "unknown dependency",
  unknown_owner: "unknown owner",
  agent_gone: "left by an agent that stopped",
};

export const keyOf = (item: AttentionItem): string =>
  [item.kind, item.task_id, item.message_id, item.agent, item.path, item.seq].map((part) => part ?? "").join("|");

/** Formats a task that waits in vain, and the tasks on which it waits: `3 waits for 2`. */
const vain = (item: AttentionItem): string => `${item.task_id ?? ""} waits for ${(item.waits_for ?? []).map((one) => one.task_id).join(", ")}`;

interface ItemProps {
  item: AttentionItem;
  onRequeue: (item: AttentionItem) => void;
}

const Item = ({ item, onRequeue }: ItemProps): JSX.Element => {
  const word = WORDS[item.kind] ?? item.kind;
  const title = item.kind === "waits_in_vain" && item.task_id !== undefined ? `${word}: ${vain(item)}` : word;
  return (
    <li class={`concern ${item.severity}`} tabIndex={0} data-key={keyOf(item)}>
      <div class="line">
        <Badge tone={item.severity === "error" ? "error" : "warn"}>
          {item.kind === "waits_in_vain" && item.task_id !== undefined ? <Link to={{ panel: "task", rest: [item.task_id] }}>{title}</Link> : title}
        </Badge>
        {item.task_id !== undefined && <span>task <Ref noun="task" id={item.task_id} /></span>}
        {item.title !== undefined && <span class="sub"><Text value={item.title} max={80} /></span>}
        {item.agent !== undefined && <span><Ref noun="agent" id={item.agent} /></span>}
        {item.path !== undefined && <code><Text value={item.path} max={200} /></code>}
        {item.message_id !== undefined && <code><Text value={item.message_id} max={64} fixed /></code>}
        <span class="space" />
        {item.seq !== undefined && <Ref noun="event" id={String(item.seq)} />}
        {item.since !== undefined && <span class="sub"><Time value={item.since} /></span>}
      </div>
      <p><Text value={item.text} max={400} /></p>
      {item.waits_for !== undefined && item.waits_for.length > 0 && (
        <p class="line sub">
          waits for
          {item.waits_for.map((one) => <span key={one.task_id} class="line"><Ref noun="task" id={one.task_id} /> <StatusBadge status={one.status} /></span>)}
        </p>
      )}
      <div class="line">
        <Command command={item.command} />
        {item.kind === "dead_letter" && item.message_id !== undefined && (
          <button type="button" disabled={whyNotAct.value !== null} title={whyNotAct.value ?? "Deliver the message again (r)"} onClick={() => onRequeue(item)}>Requeue…</button>
        )}
      </div>
    </li>
  );
};

const step = (by: number): void => {
  const items = [...document.querySelectorAll<HTMLElement>(".concern")];
  if (items.length === 0) return;
  const here = items.findIndex((item) => item.contains(document.activeElement));
  const next = items[Math.max(0, Math.min(items.length - 1, here < 0 ? 0 : here + by))];
  next?.focus();
};

const Attention = (): JSX.Element => {
  const { kind, agent } = route.value.query;
  const query = useQuery<Answer>("/v1/attention", { limit: MOST }, { on: "any", every: 2000 });
  const [requeued, setRequeued] = useState<AttentionItem | null>(null);
  const all = query.data?.items ?? [];
  const items = all.filter((item) => (kind === undefined || item.kind === kind) && (agent === undefined || item.agent === agent));
  const kinds = [...new Set(all.map((item) => item.kind))];
  useKeys({
    j: () => step(1),
    k: () => step(-1),
    r: () => {
      const focused = document.activeElement?.closest(".concern")?.getAttribute("data-key");
      const item = items.find((one) => one.kind === "dead_letter" && (focused === undefined || focused === null || keyOf(one) === focused));
      if (item !== undefined && whyNotAct.value === null) setRequeued(item);
    },
  });
  return (
    <Panel
      title="Attention"
      command={readingOf("attention", "TEAM", ...(kind === undefined ? [] : ["--kind", kind]), ...(agent === undefined ? [] : ["--agent", agent]), ...(all.length > 100 ? ["--limit", MOST] : []))}
      note={query.data !== null && `${query.data.count < query.data.total ? `${query.data.count} of ` : ""}${countOf(query.data.total, "item")}`}
      tools={(kinds.length > 1 || kind !== undefined || agent !== undefined) && (
        <>
          {agent !== undefined && <Chip onPick={() => go({ query: { agent: undefined } })} title="Show all agents" tone="accent">{agent} ✕</Chip>}
          {kinds.map((one) => (
            <button key={one} type="button" aria-pressed={kind === one} onClick={() => go({ query: { kind: kind === one ? undefined : one } })}>
              {WORDS[one] ?? one} {query.data?.by_kind[one] ?? 0}
            </button>
          ))}
        </>
      )}
    >
      <Pending query={query} />
      {query.data !== null && items.length === 0 && (
        all.length > 0
          ? <Empty title="Nothing of this kind" why="Other items need attention; the filter hides them." />
          : <Empty title="Nothing needs attention" why="No task is stuck, no lease expired, no ack is late, and there is no dead letter." command={commandOf("doctor", "check", "TEAM")} />
      )}
      <ul class="concerns">
        {items.flatMap((item, index) => [
          item.kind !== items[index - 1]?.kind && <li key={item.kind} class="cause">{WORDS[item.kind] ?? item.kind} {query.data?.by_kind[item.kind] ?? 0}</li>,
          <Item key={keyOf(item)} item={item} onRequeue={setRequeued} />,
        ])}
      </ul>
      {query.data !== null && query.data.count < query.data.total && <p class="sub">{(query.data.total - query.data.count).toLocaleString("en")} more, less severe</p>}
      {requeued?.message_id !== undefined && (
        <ActionDialog
          title="Requeue a dead letter"
          verb="Requeue"
          command={commandOf("dead-letter", "requeue", "TEAM", "--message-id", requeued.message_id)}
          run={async () => {
            await post(`/v1/dead-letters/${encodeURIComponent(requeued.message_id ?? "")}/requeue`);
            query.reload();
          }}
          onClose={() => setRequeued(null)}
        >
          <p>The delivery of <code><Text value={requeued.message_id} fixed /></code> begins anew, with all of its attempts.</p>
        </ActionDialog>
      )}
    </Panel>
  );
};

export const panel: PanelEntry = {
  id: "attention",
  title: "Attention",
  order: 30,
  key: "a",
  keys: [["j", "next item"], ["k", "item before"], ["r", "requeue the dead letter"]],
  component: Attention,
};
