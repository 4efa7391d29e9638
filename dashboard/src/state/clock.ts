// The time, as the daemon has it. Leases fall by it, so a wrong clock of the browser may not show them as run out.

import { effect, signal } from "@preact/signals";

let offset = 0;
let tenth = 0;

/** Milliseconds since 1970 by the daemon's clock; changes each second. */
export const now = signal(Date.now());

/** Learns the daemon's clock from an answer; half of the way there and back is the best guess of when it was made. */
export const settleClock = (daemon: string, asked: number, answered: number): void => {
  const time = Date.parse(daemon);
  if (Number.isNaN(time)) return;
  offset = time - (asked + answered) / 2;
  now.value = Date.now() + offset;
};

export const exactNow = (): number => Date.now() + offset;

/** As `now`, but changes each ten seconds: enough for "3 min ago". */
export const slowNow = signal(Date.now());

if (typeof window !== "undefined") {
  setInterval(() => {
    now.value = Date.now() + offset;
  }, 1000);
  effect(() => {
    const next = Math.floor(now.value / 10_000);
    if (next !== tenth) {
      tenth = next;
      slowNow.value = now.value;
    }
  });
}
