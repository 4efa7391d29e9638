// The list of threads, newest first, or the threads that contain a text. The posts of the selected thread are beside
// the list.

import { useState } from "preact/hooks";
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

interface ThreadRow {
  id: string;
  title: string;
  participants: string[];
  task_id?: string | null;
  trace_id?: string | null;
  messages: number;
  last_at?: string;
  last_by?: string | null;
  last_text?: string | null;
}

// An item of the search answer, which uses the field names of the thread protocol.
interface ThreadFound {
  id: string;
  title: string;
  participants: string[];
  taskId?: string | null;
  traceId?: string | null;
  messages: number;
  updatedAt: string;
}

interface Post {
  seq: number;
  id: string;
  from: string;
  to: string[];
  body: string;
  ts: string;
  actor?: string;
}

const TALK = ["thread_"];

function Threads() {
  const id = subject();
  const text = param("q") ?? "";
  const [limit, setLimit] = useState(50);
  /** Thread whose older messages are shown. */
  const [longer, setLonger] = useState<string | null>(null);
  const tail = longer === id ? 200 : 50;
  const all = useRead<{ threads: ThreadRow[]; next_cursor: string | null }>(
    text ? null : "/v1/threads",
    { limit },
    { on: TALK },
  );
  const some = useRead<{ threads: ThreadFound[]; nextCursor?: string | null }>(
    text ? "/v1/threads/search" : null,
    {
      q: text,
      limit: Math.min(limit, 200),
    },
    { on: TALK },
  );
  const error = all.error ?? some.error;
  if (error && !(text ? some.data : all.data)) return <Failed error={error} again={text ? some.reload : all.reload} />;
  const rows: ThreadRow[] | undefined = text
    ? some.data?.threads.map(({ taskId, traceId, updatedAt, ...rest }) => ({
        ...rest,
        task_id: taskId ?? null,
        trace_id: traceId ?? null,
        last_at: updatedAt,
      }))
    : all.data?.threads;
  const more = text ? Boolean(some.data?.nextCursor) && limit < 200 : Boolean(all.data?.next_cursor);
  const command = readingOf("thread", "search", "TEAM", text, limit > 50 && "--limit", limit > 50 && limit);

  return (
    <Panel title="Threads" command={id ? readingOf("thread", "tail", "TEAM", id, "--limit", tail) : command} busy={!rows} fill>
      <div class="tools" role="search">
        <input
          type="search"
          aria-label="Search threads"
          placeholder="Find in titles, messages, participants"
          value={text}
          onInput={(event) => go({ q: event.currentTarget.value || null }, { replace: true })}
        />
      </div>
      {rows?.length === 0 &&
        (text ? (
          <Empty title="Nothing found" command={command}>
            No thread contains this text.
          </Empty>
        ) : (
          <Empty
            title="No threads"
            command={commandOf(
              "thread",
              "start",
              "TEAM",
              "--title",
              "Who repairs the login?",
              "--participants",
              "lead,ada",
            )}
          >
            This team has no threads.
          </Empty>
        ))}
      {rows && rows.length > 0 && (
        <div class={id ? "pair pair-chosen" : "pair"}>
          <nav class="pair-list" aria-label="List of threads">
            <ul class="talks">
              {rows.map((thread) => (
                <li key={thread.id}>
                  <Link
                    panel="threads"
                    params={{ id: thread.id, q: text || null }}
                    class={thread.id === id ? "talk talk-chosen" : "talk"}
                  >
                    <span class="talk-head">
                      <strong>
                        <Shown text={thread.title} />
                      </strong>
                      {thread.last_at && <When time={thread.last_at} />}
                    </span>
                    <span class="talk-line">
                      {thread.last_text && (
                        <>
                          {thread.last_by && (
                            <b>
                              <Shown text={thread.last_by} />:{" "}
                            </b>
                          )}
                          <Shown text={thread.last_text.slice(0, 160)} />
                        </>
                      )}
                    </span>
                    <span class="talk-foot">
                      {thread.messages} {thread.messages === 1 ? "message" : "messages"} ·{" "}
                      <Shown text={thread.participants.join(", ")} />
                      {thread.task_id && (
                        <>
                          {" · "}
                          <Shown text={thread.task_id} />
                        </>
                      )}
                    </span>
                  </Link>
                </li>
              ))}
            </ul>
            {more && <More onMore={() => setLimit(limit + 100)}>Show older threads</More>}
          </nav>
          {id ? <Posts key={id} id={id} mark={text} tail={tail} onLonger={() => setLonger(id)} /> : <p class="pair-none">Choose a thread to read it.</p>}
        </div>
      )}
    </Panel>
  );
}

interface PostsProps {
  id: string;
  /** Text that is searched. */
  mark: string;
  /** Number of messages to show. */
  tail: number;
  onLonger: () => void;
}

function Posts({ id, mark, tail, onLonger }: PostsProps) {
  const { data, error, reload } = useRead<{ thread: ThreadFound; messages: Post[]; nextCursor?: string | null }>(
    `/v1/threads/${encodeURIComponent(id)}/messages`,
    { tail },
    { on: TALK },
  );
  if (error && !data) return <Failed error={error} again={reload} />;
  if (!data) return <div class="pair-one" aria-busy="true" />;
  const { thread, messages } = data;
  const wanted = mark.toLowerCase();
  return (
    <article class="pair-one" aria-label={`Thread ${thread.title}`}>
      <header class="pair-head">
        <Link panel="threads" params={{ id: null, q: mark || null }} class="pair-back">
          ‹ Threads
        </Link>
        <h2>
          <Shown text={thread.title} />
        </h2>
        <p class="summary">
          <Shown text={thread.participants.join(", ")} />
          {thread.taskId && (
            <>
              {" · task "}
              <Link panel="task" params={{ id: thread.taskId }}>
                <Shown text={thread.taskId} />
              </Link>
            </>
          )}
          {thread.traceId && (
            <>
              {" · trace "}
              <Link panel="trace" params={{ id: thread.traceId }}>
                <Shown text={thread.traceId} />
              </Link>
            </>
          )}
        </p>
      </header>
      {data.nextCursor && tail < 200 && <More onMore={onLonger}>Show older messages</More>}
      {messages.length === 0 && (
        <Empty title="No messages" command={commandOf("thread", "post", "TEAM", id, "I take it", "--agent", "ada")}>
          Nothing was said here yet.
        </Empty>
      )}
      <ol class="posts">
        {messages.map((post) => (
          <li key={post.id} class={wanted && post.body.toLowerCase().includes(wanted) ? "post post-found" : "post"}>
            <p class="post-head">
              <strong>
                <Shown text={post.from} />
              </strong>
              {post.actor && post.actor !== post.from && (
                <span class="mild">
                  {" "}
                  recorded by <Shown text={post.actor} />
                </span>
              )}
              <span class="mild">
                {" "}
                to <Shown text={post.to.join(", ") || "nobody"} />
              </span>
              <span class="post-when">
                #{post.seq} <When time={post.ts} />
              </span>
            </p>
            <p class="post-body">
              <Shown text={post.body} lines whole />
            </p>
          </li>
        ))}
      </ol>
    </article>
  );
}

export const panel: PanelEntry = { id: "threads", title: "Threads", order: 60, key: "h", component: Threads };
