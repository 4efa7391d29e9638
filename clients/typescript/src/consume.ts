// A consumer of a durable subscription: it holds the lease, and yields one delivery at a time.

import { type Teamlog, sleep } from "./client.js";
import { Refusal, Unreachable } from "./errors.js";
import type { Event, OperationData, OperationInput } from "./types.js";

/** A subscription, which is created if it does not exist, and the options of its consumer. */
export interface Consume extends Omit<OperationInput<"subscribe">, "name"> {
  /** Name of the consumer, for people. */
  consumer?: string;
  /** Length of the lease, in milliseconds. The client renews it. Default: 30,000. */
  leaseMs?: number;
  /** Continues after this seq instead of the stored position, for a consumer that keeps the seq in its own transactions. */
  fromSeq?: number;
  /** Ends the iteration, and the lease. */
  signal?: AbortSignal;
}

/** An event that a subscription delivers. Settle it with `ack` or `nak`. */
export interface Delivery {
  event: Event;
  /** Number of this delivery, from 1. Only failed deliveries count. */
  attempt: number;
  /** True if the event was parked and is replayed. */
  replayed: boolean;
  /** Acknowledges the event durably. Returns false if another consumer took over and gets the event. */
  ack(): Promise<boolean>;
  /** Reports that the event could not be handled. It is delivered again after the delay, or parked after its last attempt. */
  nak(reason?: string, delayMs?: number): Promise<boolean>;
}

type Delivered = OperationData<"fetch-subscription">["events"][number];

const RECONNECT_MS = 1_000;

export async function* consumeSubscription(client: Teamlog, name: string, consume: Consume): AsyncGenerator<Delivery, void, undefined> {
  const { consumer, leaseMs = 30_000, fromSeq, signal, ...filter } = consume;
  const { subscription } = (await client.call("subscribe", { ...filter, name })).data;
  const lease = new Lease(client, name, leaseMs, consumer, signal);
  let from = fromSeq;
  const renewal = setInterval(() => void lease.renew(), leaseMs / 3);
  try {
    while (signal?.aborted !== true) {
      const room = subscription.window - lease.unsettled.size;
      if (room <= 0) {
        await lease.settled(signal);
        continue;
      }
      const events = await lease.fetch(room, from);
      // The position counts only when the lease is taken, and then the server has it.
      if (events.length > 0) from = undefined;
      for (const delivered of events) lease.unsettled.add(delivered.event.seq);
      const { epoch } = lease;
      for (const delivered of events) {
        if (lease.epoch !== epoch) break;
        yield lease.delivery(delivered);
      }
    }
  } catch (error) {
    if (signal?.aborted !== true) throw error;
  } finally {
    clearInterval(renewal);
    await lease.release();
  }
}

class Lease {
  /** Seqs of the deliveries that the consumer works on. */
  readonly unsettled = new Set<number>();
  #epoch: number | undefined;
  #fetching = false;
  #wake: () => void = () => {};

  constructor(
    readonly client: Teamlog,
    readonly name: string,
    readonly leaseMs: number,
    readonly consumer: string | undefined,
    readonly signal: AbortSignal | undefined,
  ) {}

  /** Epoch of the lease. Undefined without a lease. */
  get epoch(): number | undefined {
    return this.#epoch;
  }

  /** Waits for events at most a third of the lease. */
  async fetch(limit: number, fromSeq: number | undefined): Promise<Delivered[]> {
    const wait = Math.min(this.leaseMs / 3, 20_000);
    this.#fetching = true;
    try {
      const { data } = await this.#fetch({ limit, timeout_ms: Math.ceil(wait), ...(fromSeq === undefined ? {} : { from_seq: fromSeq }) });
      this.#epoch = data.epoch;
      return data.events;
    } catch (error) {
      this.signal?.throwIfAborted();
      if (this.#isFenced(error, this.#epoch)) return [];
      // The files of the subscription have the lease, so a new daemon continues it.
      if (!(error instanceof Unreachable) || this.#epoch === undefined) throw error;
      await sleep(RECONNECT_MS, this.signal);
      return [];
    } finally {
      this.#fetching = false;
    }
  }

  /** Renews the lease while the consumer works. A failure shows in the next fetch or ack. */
  async renew(): Promise<void> {
    const epoch = this.#epoch;
    if (this.#fetching || epoch === undefined) return;
    try {
      await this.#fetch({ limit: 0, timeout_ms: 0 });
    } catch (error) {
      this.#isFenced(error, epoch);
    }
  }

  delivery({ event, attempt, replayed }: Delivered): Delivery {
    const { client, name } = this;
    // An ack belongs to the lease under which the event was delivered.
    const epoch = this.#epoch ?? 0;
    return {
      event,
      attempt,
      replayed,
      ack: () => this.#settle(event.seq, epoch, () => client.call("ack-subscription", { name, epoch, seqs: [event.seq] })),
      nak: (reason, delayMs) =>
        this.#settle(event.seq, epoch, () =>
          client.call("nak-subscription", {
            name,
            epoch,
            seq: event.seq,
            ...(reason === undefined ? {} : { reason }),
            ...(delayMs === undefined ? {} : { delay_ms: delayMs }),
          }),
        ),
    };
  }

  /** Waits until a delivery is settled. */
  settled(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
      signal?.addEventListener("abort", () => resolve(), { once: true });
    });
  }

  async release(): Promise<void> {
    const epoch = this.#epoch;
    if (epoch === undefined) return;
    // The lease ends by itself if this fails.
    await this.client.call("release-subscription", { name: this.name, epoch }, { timeoutMs: 5_000 }).catch(() => {});
  }

  async #fetch(how: Partial<OperationInput<"fetch-subscription">>) {
    const input = {
      ...how,
      name: this.name,
      lease_ms: this.leaseMs,
      holding: [...this.unsettled],
      ...(this.consumer === undefined ? {} : { consumer: this.consumer }),
      ...(this.#epoch === undefined ? {} : { epoch: this.#epoch }),
    };
    return this.client.call("fetch-subscription", input, this.signal === undefined ? {} : { signal: this.signal });
  }

  async #settle(seq: number, epoch: number, call: () => Promise<unknown>): Promise<boolean> {
    try {
      await call();
    } catch (error) {
      if (this.#isFenced(error, epoch)) return false;
      throw error;
    }
    this.unsettled.delete(seq);
    this.#wake();
    return true;
  }

  /** Returns true if another consumer took over after the lease with this epoch. Then its deliveries are of no use. */
  #isFenced(error: unknown, epoch: number | undefined): boolean {
    if (!(error instanceof Refusal) || error.code !== "subscription_fenced") return false;
    if (epoch === this.#epoch) {
      this.#epoch = undefined;
      this.unsettled.clear();
      this.#wake();
    }
    return true;
  }
}
