// The stream of events: an iterator that reconnects after the last event that it yielded.

import { type Teamlog, sleep } from "./client.js";
import { Unreachable } from "./errors.js";
import { type Frame, StreamParser } from "./sse.js";
import type { paths } from "./schema.js";
import type { Event } from "./types.js";

type Query = NonNullable<NonNullable<paths["/v1/events"]["get"]["parameters"]["query"]>>;

/** Filters of a stream, as of `GET /v1/events`. Without `after` the stream begins with the next new event. */
export interface Follow extends Omit<Query, "at" | "before" | "limit" | "order"> {
  /** Ends the iteration. */
  signal?: AbortSignal;
}

/** The daemon sends a comment every 15 s, so a silent connection of this age is broken. */
const SILENCE_MS = 45_000;
/** The time that the daemon asks for in the field `retry` of a stream. */
const RECONNECT_MS = 1_000;

export async function* followEvents(client: Teamlog, follow: Follow): AsyncGenerator<Event, void, undefined> {
  const { signal, after, ...filter } = follow;
  const stop = new AbortController();
  const either = signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal]);
  try {
    let last = after ?? (await lastSeq(client, either));
    for (let began = false; ; began = true) {
      try {
        for await (const frame of frames(client, { ...filter, after: last }, either)) {
          began = true;
          if (frame.name === "cut") {
            last = resumeAfter(frame, last);
            break;
          }
          const event = JSON.parse(frame.data) as Event;
          last = event.seq;
          yield event;
        }
      } catch (error) {
        // A stream that began continues after any absence of the daemon.
        if (!began || !(error instanceof Unreachable)) throw error;
      }
      await sleep(RECONNECT_MS, either);
    }
  } catch (error) {
    if (signal?.aborted !== true) throw error;
  } finally {
    // Closes the connection if the caller leaves the loop.
    stop.abort();
  }
}

const lastSeq = async (client: Teamlog, signal: AbortSignal): Promise<number> => {
  const { data } = await client.get("/v1/events", { query: { limit: 1 }, signal });
  return data.last_seq;
};

/** Yields the frames of one connection. Returns when the connection ends. */
async function* frames(client: Teamlog, query: Record<string, unknown>, signal: AbortSignal): AsyncGenerator<Frame, void, undefined> {
  const silence = new AbortController();
  const response = await client.send("GET", "/v1/events", {
    query,
    headers: { Accept: "text/event-stream" },
    signal: AbortSignal.any([signal, silence.signal]),
    streams: true,
  });
  if (response.body === null) throw new Unreachable("the stream has no body");
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  const parser = new StreamParser();
  for (;;) {
    const timer = setTimeout(() => silence.abort(), SILENCE_MS);
    const piece = await reader.read().catch(() => undefined);
    clearTimeout(timer);
    signal.throwIfAborted();
    if (piece === undefined || piece.done) return;
    yield* parser.push(piece.value);
  }
}

/** Returns the seq after which a cut stream continues. A stream that was cut because of its token names none: the next request is refused. */
const resumeAfter = (frame: Frame, last: number): number => {
  const { after } = JSON.parse(frame.data) as { after?: number };
  return Math.max(last, after ?? 0);
};
