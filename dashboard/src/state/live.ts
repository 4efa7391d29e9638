// The one stream of a team's events. Panels hear of events as they are recorded and read again what these touch. The
// stream goes on behind the last seq it gave, after a cut, a lost connection or a new session.

import { effect, signal } from "@preact/signals";
import { ApiError, send } from "../api/client.ts";
import { StreamParser } from "../api/sse.ts";
import type { LogEvent } from "../api/types.ts";
import { team } from "./route.ts";
import { refresh, session, signedOut, signIns } from "./session.ts";

export type Connection = "connecting" | "live" | "lost" | "signed out";

export const connection = signal<Connection>("connecting");
/** The last seq that the stream gave, or stood at when it began. */
export const lastSeq = signal<number | null>(null);

type Listener = (events: LogEvent[]) => void;
const listeners = new Set<Listener>();

/** Hears of events in the order of the log, several at once where they come fast. Gives back what ends it. */
export const onEvents = (listener: Listener): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

const FIRST_WAIT = 250;
const LONGEST_WAIT = 8000;
/** Longer than the daemon's comments are apart, so silence means that the connection is dead. */
const SILENCE = 45_000;

const tell = (events: LogEvent[]): void => {
  // An event that was given already, as after a cut, is not given again.
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
      // The daemon cut the stream: what comes next is asked for at once.
    } catch (error) {
      if (stop.aborted) break;
      if (error instanceof ApiError && error.status === 401) {
        connection.value = "signed out";
        break;
      }
      if (error instanceof ApiError && error.code === "cursor_ahead") {
        // An older state of the log was put back: nothing that was read holds any more.
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

/** Follows the team of the address, as long as there is a session. */
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
