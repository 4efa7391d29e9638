// The comments on a task, newest page first, and the texts as they were written.

import { useState } from "preact/hooks";
import { Failed, Link, More, Shown, useRead, When } from "../page.tsx";

interface Comment {
  id: string;
  seq: number;
  from: string;
  actor?: string | null;
  body: string;
  ts: string;
}

interface CommentsRead {
  threadId?: string;
  count: number;
  comments: Comment[];
  nextCursor?: string;
}

/** Number of comments that are shown first. */
const FIRST = 10;
/** Largest number of comments that the daemon lists. */
const MOST = 200;

export function Comments({ id }: { id: string }) {
  const [limit, setLimit] = useState(FIRST);
  const { data, error, reload } = useRead<CommentsRead>(
    `/v1/tasks/${encodeURIComponent(id)}/comments`,
    { limit },
    { on: (event) => event.kind === "thread_message_posted" },
  );
  if (error && !data) return <Failed error={error} again={reload} />;
  if (!data || data.count === 0) return null;
  return (
    <section class="part">
      <h2>
        Comments <span class="sub">{data.count}</span>
      </h2>
      {data.nextCursor && limit < MOST && (
        <More onMore={() => setLimit(MOST)}>Show {data.count - data.comments.length} older comments</More>
      )}
      <ol class="posts">
        {data.comments.map((comment) => (
          <li key={comment.id} class="post">
            <p class="post-head">
              <strong>
                <Link panel="inbox" params={{ id: comment.from }}>
                  <Shown text={comment.from} />
                </Link>
              </strong>
              {comment.actor && comment.actor !== comment.from && (
                <span class="mild">
                  {" "}
                  recorded by <Shown text={comment.actor} />
                </span>
              )}
              <span class="post-when">
                #{comment.seq} <When time={comment.ts} />
              </span>
            </p>
            <p class="post-body">
              <Shown text={comment.body} lines whole />
            </p>
          </li>
        ))}
      </ol>
    </section>
  );
}
