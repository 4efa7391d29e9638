import { type Consume, type Delivery, consumeSubscription } from "./consume.js";
import { Refusal, Unreachable, refusalOf } from "./errors.js";
import type { paths } from "./schema.js";
import { type Follow, followEvents } from "./stream.js";
import type { Answer, Arguments, CallOptions, Data, Event, Input, OperationData, OperationInput, OperationName, PathsOf } from "./types.js";

/** Address and token of a daemon. */
export interface Connection {
  url: string;
  token: string;
  /** Team of all calls. Needed only with a token for all teams of a data root. */
  teamId?: string;
}

export interface ClientOptions {
  /** Attempts per call. Default: 5. */
  attempts?: number;
  /** Time for one attempt, in milliseconds. Default: 30,000. */
  timeoutMs?: number;
  /** Replaces `fetch`. */
  fetch?: typeof fetch;
}

/** Everything about a request except address and token. */
export interface Sending extends CallOptions {
  query?: Readonly<Record<string, unknown>>;
  body?: object;
  headers?: Readonly<Record<string, string>>;
  /** Set for a stream: the time limit then ends with the head of the answer. */
  streams?: boolean;
}

const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 8_000;
/** Paths of no team, which refuse `teamId`. */
const OF_NO_TEAM = /^\/v1\/(root\/|session|openapi\.json)/;

/** A client of one team. */
export class Teamlog {
  readonly #connect: () => Connection | Promise<Connection>;
  readonly #attempts: number;
  readonly #timeoutMs: number;
  readonly #fetch: typeof fetch;
  #connection: Connection | undefined;

  /** A function as the connection is called before the first call, and again when the daemon moved or its token changed. */
  constructor(connection: Connection | (() => Connection | Promise<Connection>), options: ClientOptions = {}) {
    this.#connect = typeof connection === "function" ? connection : () => connection;
    this.#attempts = options.attempts ?? 5;
    this.#timeoutMs = options.timeoutMs ?? 30_000;
    this.#fetch = options.fetch ?? ((input, init) => fetch(input, init));
  }

  /** Reads something. */
  get<P extends PathsOf<"get">>(path: P, ...[input]: Arguments<Input<P, "get">>): Promise<Answer<Data<P, "get">>> {
    return this.#answer("GET", path, input);
  }

  /** Records something, once: all attempts have the same idempotency key. */
  post<P extends PathsOf<"post">>(path: P, ...[input]: Arguments<Input<P, "post">>): Promise<Answer<Data<P, "post">>> {
    return this.#answer("POST", path, input);
  }

  /** Executes an operation of the team API. */
  async call<Name extends OperationName>(
    name: Name,
    ...[input, options]: [...Arguments<OperationInput<Name>>, options?: CallOptions]
  ): Promise<Answer<OperationData<Name>>> {
    const path = `/v1/api/${name}` as keyof paths;
    const answer = await this.#answer<{ data: OperationData<Name> }>("POST", path, { ...(options as CallOptions), body: (input ?? {}) as object });
    return { ...answer, data: answer.data.data };
  }

  /** Follows the events of the log. The iterator reconnects, and yields each event once; it ends with `signal`. */
  events(follow: Follow = {}): AsyncGenerator<Event, void, undefined> {
    return followEvents(this, follow);
  }

  /**
   * Consumes a durable subscription, which is created if it does not exist. Settle each delivery with `ack` or `nak`; an event whose
   * delivery is not settled is delivered again. The iterator renews the lease while the caller works, and ends it at its end.
   */
  consume(name: string, consume: Consume = {}): AsyncGenerator<Delivery, void, undefined> {
    return consumeSubscription(this, name, consume);
  }

  async #answer<T>(method: string, path: string, input: unknown = {}): Promise<Answer<T>> {
    const { path: values, ...sending } = input as Sending & { path?: Record<string, unknown> };
    const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(values?.[name])));
    const response = await this.send(method, filled, sending);
    const at = response.headers.get("X-Teamlog-At");
    return {
      data: (await response.json()) as T,
      replayed: response.headers.get("Idempotent-Replayed") === "true",
      at: at === null ? undefined : Number(at),
      note: response.headers.get("X-Teamlog-Note") ?? undefined,
    };
  }

  /** Sends a request, and repeats it while that can help. Throws `Refusal` or `Unreachable`. */
  async send(method: string, path: string, sending: Sending = {}): Promise<Response> {
    const keyed = method === "POST" ? { ...sending, key: sending.key ?? crypto.randomUUID() } : sending;
    let wait = FIRST_WAIT_MS;
    for (let attempt = 1; ; attempt += 1) {
      const connection = (this.#connection ??= await this.#connect());
      const failure = await this.#attempt(connection, method, path, keyed);
      if (failure instanceof Response) return failure;
      const moved = await this.#moved(connection, failure);
      const helps = failure instanceof Unreachable || failure.retryAfter !== undefined || moved;
      if (!helps || attempt >= this.#attempts) throw failure;
      const asked = failure instanceof Refusal ? (failure.retryAfter ?? 0) * 1_000 : 0;
      await sleep(Math.max(asked, wait * (0.5 + Math.random())), sending.signal);
      wait = Math.min(wait * 2, LONGEST_WAIT_MS);
    }
  }

  /** Asks for the connection again after a failure that a new address or token can explain. Returns true if it differs. */
  async #moved(connection: Connection, failure: Refusal | Unreachable): Promise<boolean> {
    if (failure instanceof Refusal && failure.status !== 401) return false;
    // Another call may have asked already.
    if (this.#connection === connection) {
      try {
        this.#connection = await this.#connect();
      } catch {
        return false;
      }
    }
    return this.#connection?.url !== connection.url || this.#connection.token !== connection.token;
  }

  async #attempt(connection: Connection, method: string, path: string, sending: Sending): Promise<Response | Refusal | Unreachable> {
    const { signal, key, traceId, body } = sending;
    const headers = new Headers(sending.headers);
    headers.set("Authorization", `Bearer ${connection.token}`);
    if (key !== undefined) headers.set("Idempotency-Key", key);
    if (traceId !== undefined) headers.set("X-Trace-Id", traceId);
    if (method === "POST") headers.set("Content-Type", "application/json");
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(), sending.timeoutMs ?? this.#timeoutMs);
    try {
      const response = await this.#fetch(address(connection, path, sending.query ?? {}), {
        method,
        headers,
        ...(method === "POST" ? { body: JSON.stringify(body ?? {}) } : {}),
        signal: signal === undefined ? limit.signal : AbortSignal.any([signal, limit.signal]),
        cache: "no-store",
        credentials: "omit",
        redirect: "error",
      });
      if (!response.ok) return await refusalOf(response);
      if (sending.streams === true) return response;
      // The whole body belongs to the attempt, so that a broken body is repeated too.
      const whole = await response.arrayBuffer();
      return new Response(whole, { status: response.status, headers: response.headers });
    } catch (error) {
      signal?.throwIfAborted();
      return new Unreachable(`no answer of ${connection.url} to ${method} ${path}`, { cause: error });
    } finally {
      clearTimeout(timer);
    }
  }
}

const address = (connection: Connection, path: string, query: Readonly<Record<string, unknown>>): string => {
  const url = new URL(path, connection.url);
  const team = OF_NO_TEAM.test(path) ? undefined : connection.teamId;
  for (const [name, value] of Object.entries({ teamId: team, ...query })) {
    if (value === undefined || value === null) continue;
    // A list is a parameter that is repeated.
    for (const one of Array.isArray(value) ? value : [value]) url.searchParams.append(name, String(one));
  }
  return url.href;
};

/** Waits. Throws the reason of `signal` as soon as it aborts. */
export const sleep = (milliseconds: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, milliseconds);
    signal?.addEventListener("abort", stop, { once: true });
  });
