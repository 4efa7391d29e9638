// The stream of a team's events, which the whole page shares. Panels get events as they are recorded, and read
// changed answers again. After a cut, a lost connection or a new session, the stream continues after its last seq.

import { effect, signal } from "@preact/signals";
import { ApiError, send } from "../api/client.ts";
import { StreamParser } from "../api/sse.ts";
import type { LogEvent } from "../api/types.ts";
import { team } from "./route.ts";
import { refresh, session, signedOut, signIns } from "./session.ts";

export type Connection = "connecting" | "live" | "lost" | "signed out";

export const connection = signal<Connection>("connecting");
/** The last seq of the stream, or the seq at its start. */
export const lastSeq = signal<number | null>(null);

type Listener = (events: LogEvent[]) => void;
const listeners = new Set<Listener>();

/**
 * Calls the listener with events in the order of the log, several at a time if they arrive fast. Returns a function
 * that removes the listener.
 */
export const onEvents = (listener: Listener): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

const FIRST_WAIT = 250;
const LONGEST_WAIT = 8000;
/** Time without data after which the connection counts as dead. The daemon sends comments more often. */
const SILENCE = 45_000;

const tell = (events: LogEvent[]): void => {
  // Do not pass on events that were passed on before, for example after a cut.
  const behind = lastSeq.peek() ?? 0;
  const fresh = events.filter((event) => event.seq > behind);
  const last = fresh.at(-1);
  if (last === undefined) return;
  lastSeq.value = last.seq;
  for (const listener of listeners) listener(fresh);
};

const startSeq = async (name: string, signal: AbortSignal): Promise<void> => {
  if (lastSeq.peek() !== null) return;
  const response = await send("/v1/events", { limit: 1 }, { signal });
  const page = (await response.json()) as { last_seq: number };
  if (team.peek() === name) lastSeq.value = page.last_seq;
};

const readStream = async (name: string, signal: AbortSignal, alive: () => void): Promise<void> => {
  await startSeq(name, signal);
  const after = lastSeq.peek() ?? 0;
  const response = await send("/v1/events", { after }, { headers: { Accept: "text/event-stream" }, signal });
  if (response.body === null) throw new ApiError(0, "unreachable", "the stream has no body");
  alive();
  connection.value = "live";
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  const parser = new StreamParser();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    alive();
    const events: LogEvent[] = [];
    let cut = false;
    for (const event of parser.push(value)) {
      if (event.name === "cut") cut = true;
      else if (event.name === "message") events.push(JSON.parse(event.data) as LogEvent);
    }
    tell(events);
    if (cut) return;
  }
};

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((done) => {
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      done();
    });
  });

const run = async (name: string, stop: AbortSignal): Promise<void> => {
  let wait = FIRST_WAIT;
  while (!stop.aborted) {
    const attempt = new AbortController();
    const end = (): void => attempt.abort();
    stop.addEventListener("abort", end);
    let silence = setTimeout(end, SILENCE);
    const alive = (): void => {
      wait = FIRST_WAIT;
      clearTimeout(silence);
      silence = setTimeout(end, SILENCE);
    };
    try {
      await readStream(name, attempt.signal, alive);
      // The daemon ended the stream, so reconnect at once.
    } catch (error) {
      if (stop.aborted) break;
      if (error instanceof ApiError && error.status === 401) {
        connection.value = "signed out";
        break;
      }
      if (error instanceof ApiError && error.code === "cursor_ahead") {
        // The log was set back to an older state, so all answers must be read again.
        lastSeq.value = null;
        signIns.value += 1;
      }
    } finally {
      clearTimeout(silence);
      stop.removeEventListener("abort", end);
      attempt.abort();
    }
    if (stop.aborted) break;
    connection.value = "lost";
    await pause(wait * (0.8 + Math.random() * 0.4), stop);
    wait = Math.min(wait * 2, LONGEST_WAIT);
    if (!stop.aborted) void refresh();
  }
};

/** Follows the stream of the team in the address while there is a session. */
export const follow = (): void => {
  let followed = "";
  effect(() => {
    const name = team.value;
    void signIns.value;
    if (name === "" || session.value === null) return;
    if (name !== followed) {
      followed = name;
      lastSeq.value = null;
    }
    connection.value = "connecting";
    const stop = new AbortController();
    void run(name, stop.signal);
    return () => stop.abort();
  });
  effect(() => {
    if (signedOut.value) connection.value = "signed out";
  });
};
