// The mailbox of an agent, and the open deliveries of the team.

import { useEffect, useState } from "preact/hooks";
import type { PanelEntry } from "./index.ts";
import {
  commandOf,
  Empty,
  Failed,
  go,
  Link,
  More,
  Panel,
  param,
  readingOf,
  Shown,
  subject,
  useRead,
  When,
} from "./page.tsx";
import { worded } from "../ui/text.tsx";

interface Mail {
  id: string;
  type: string;
  from: string;
  to: string;
  priority: string;
  created_at: string;
  payload: unknown;
  task_id?: string | null;
  trace_id?: string | null;
}

interface MailPage {
  agent: string;
  messages: Mail[];
  count: number;
  next_cursor: string | null;
}

interface Deliveries {
  deliveries: {
    message_id: string;
    from: string;
    to: string;
    type: string;
    task_id?: string | null;
    attempt: number;
    attempts_max: number;
    sent_at: string;
    due_at: string;
    overdue: boolean;
  }[];
  next_cursor: string | null;
}

// Prefixes of event kinds that change a mailbox or the list of open deliveries.
const MAIL = ["message_", "delivery_", "ack_"];

/** Number of messages in a mailbox at first, here and in `teamlog read`. */
const FEW = 50;
/** Number of agents that are shown without a search. */
const AGENTS = 24;

function Inbox() {
  const agent = subject();
  const unread = param("unread") === "true";
  const { data: status } = useRead<{ unread_counts: Record<string, number> }>("/v1/status", {}, { on: MAIL });
  const text = param("q") ?? "";
  const open = (name: string): number => status?.unread_counts[name] ?? 0;
  // Agents with open mail come first.
  const agents = Object.keys(status?.unread_counts ?? {}).sort((a, b) => open(b) - open(a) || (a < b ? -1 : 1));
  const found = agents.filter((name) => name === agent || name.toLowerCase().includes(text.toLowerCase()));
  const listed = found.filter((name, index) => index < AGENTS || name === agent);
  const [limit, setLimit] = useState(FEW);
  useEffect(() => setLimit(FEW), [agent, unread]);
  const command = agent
    ? readingOf("read", "TEAM", "--agent", agent, unread && "--unread", limit > FEW && "--limit", limit > FEW && limit)
    : readingOf("status", "TEAM");
  return (
    <Panel title="Inbox" command={command} busy={!status}>
      <div class="tools">
        {agents.length > AGENTS && (
          <input
            type="search"
            aria-label="Search agents"
            placeholder="Find an agent"
            value={text}
            onInput={(event) => go({ q: event.currentTarget.value || null }, { replace: true })}
          />
        )}
        <div class="choice choice-many" role="group" aria-label="Agent">
          {listed.map((name) => (
            <button key={name} type="button" aria-pressed={name === agent} onClick={() => go({ id: name })}>
              <Shown text={name} />
              {open(name) > 0 && (
                <span class="badge warn">
                  {open(name)}
                  <span class="offscreen"> not acknowledged</span>
                </span>
              )}
            </button>
          ))}
          {found.length > listed.length && <span class="mild">{found.length - listed.length} more: search for a name</span>}
          {found.length === 0 && agents.length > 0 && <span class="mild">No agent has this text in its name.</span>}
        </div>
        {agent && (
          <label class="check">
            <input
              type="checkbox"
              checked={unread}
              onChange={(event) => go({ unread: event.currentTarget.checked ? "true" : null })}
            />
            Only what is not acknowledged
          </label>
        )}
      </div>
      {agents.length === 0 && status && (
        <Empty title="No agents" command={commandOf("send", "TEAM", "--from", "lead", "--to", "ada", "--type", "handoff")}>
          The team has no members and no mail.
        </Empty>
      )}
      {agent ? (
        <Mailbox key={`${agent} ${unread}`} agent={agent} unread={unread} limit={limit} onMore={setLimit} />
      ) : (
        agents.length > 0 && <p class="mild">Choose a mailbox.</p>
      )}
      <Pending agent={agent} />
    </Panel>
  );
}

interface MailboxProps {
  agent: string;
  unread: boolean;
  /** Number of messages to show. */
  limit: number;
  onMore: (limit: number) => void;
}

function Mailbox({ agent, unread, limit, onMore }: MailboxProps) {
  const all = useRead<MailPage>("/v1/mailbox", { agentId: agent, limit, unread: unread ? "true" : null }, { on: MAIL });
  // The mailbox does not mark acknowledged messages, so read the unread messages separately.
  const open = useRead<MailPage>("/v1/mailbox", { agentId: agent, limit: 1000, unread: "true" }, { on: MAIL });
  const error = all.error ?? open.error;
  if (error && !all.data) return <Failed error={error} again={all.reload} />;
  if (!all.data || !open.data) return <div aria-busy="true" />;
  const waiting = new Set(open.data.messages.map((mail) => mail.id));
  const newest = [...all.data.messages].reverse();
  if (newest.length === 0) {
    return unread ? (
      <Empty title="Nothing open" command={readingOf("read", "TEAM", "--agent", agent)}>
        {agent} has acknowledged all of its messages.
      </Empty>
    ) : (
      <Empty title="No mail" command={commandOf("send", "TEAM", "--from", "lead", "--to", agent, "--type", "handoff")}>
        {agent} has no messages.
      </Empty>
    );
  }
  return (
    <>
      <ol class="posts mails" aria-label={`Mailbox of ${agent}`}>
        {newest.map((mail) => {
          const acked = !waiting.has(mail.id);
          return (
            <li key={mail.id} class={acked ? "post mail-acked" : "post mail-open"} data-message={mail.id}>
              <p class="post-head">
                <span class={acked ? "sign sign-good" : "sign sign-open"}>{acked ? "✓ acknowledged" : "○ open"}</span>
                <strong>
                  <Shown text={mail.from} />
                </strong>
                <span>{mail.type}</span>
                {mail.priority !== "normal" && <span class="tag">{mail.priority}</span>}
                {mail.task_id && (
                  <Link panel="task" params={{ id: mail.task_id }}>
                    <Shown text={mail.task_id} />
                  </Link>
                )}
                {mail.trace_id && (
                  <Link panel="trace" params={{ id: mail.trace_id }}>
                    <Shown text={mail.trace_id} />
                  </Link>
                )}
                <span class="post-when">
                  <When time={mail.created_at} />
                </span>
              </p>
              <p class="post-body">
                <Shown text={body(mail)} lines />
              </p>
            </li>
          );
        })}
      </ol>
      {all.data.next_cursor && limit < 1000 && (
        <More onMore={() => onMore(Math.min(1000, limit * 4))}>Show older messages</More>
      )}
    </>
  );
}

const MOST = 4000;

function body(mail: Mail): string {
  const text = (mail.payload as { body?: unknown } | null)?.body;
  if (typeof text === "string") return text.length > MOST ? `${text.slice(0, MOST)}…` : text;
  const line = worded(mail.payload);
  return line === "" ? "no payload" : line;
}

function Pending({ agent }: { agent: string | null }) {
  const { data, error } = useRead<Deliveries>("/v1/deliveries", { limit: 200 }, { on: MAIL, every: 15_000 });
  if (error && !data) return <Failed error={error} />;
  if (!data) return null;
  const rows = data.deliveries.filter((each) => agent === null || each.to === agent || each.from === agent);
  return (
    <section class="part">
      <h2>Deliveries under way</h2>
      {rows.length === 0 ? (
        <Empty
          title="None"
          command={commandOf(
            "send",
            "TEAM",
            "--from",
            "lead",
            "--to",
            "ada",
            "--type",
            "decision_required",
            "--require-ack",
          )}
        >
          Nothing that needs an acknowledgement is waiting for one.
        </Empty>
      ) : (
        <div class="table-frame" tabIndex={0} role="region" aria-label="Deliveries under way">
          <table class="table">
            <thead>
              <tr>
                <th scope="col">Message</th>
                <th scope="col">Type</th>
                <th scope="col">From</th>
                <th scope="col">To</th>
                <th scope="col">Task</th>
                <th scope="col">Attempt</th>
                <th scope="col">Sent</th>
                <th scope="col">Due</th>
              </tr>
            </thead>
            <tbody>
              {rows.map((each) => (
                <tr key={each.message_id} class={each.overdue ? "row-warn" : ""}>
                  <th scope="row">
                    <Shown text={each.message_id} />
                  </th>
                  <td>{each.type}</td>
                  <td>
                    <Shown text={each.from} />
                  </td>
                  <td>
                    <Shown text={each.to} />
                  </td>
                  <td>
                    {each.task_id && (
                      <Link panel="task" params={{ id: each.task_id }}>
                        <Shown text={each.task_id} />
                      </Link>
                    )}
                  </td>
                  <td>
                    {each.attempt} of {each.attempts_max}
                  </td>
                  <td>
                    <When time={each.sent_at} />
                  </td>
                  <td>
                    {each.overdue && <span class="sign sign-warn">! overdue </span>}
                    <When time={each.due_at} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

export const panel: PanelEntry = { id: "inbox", title: "Inbox", order: 65, key: "i", component: Inbox };
