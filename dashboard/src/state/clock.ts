// The time of the daemon's clock. The ends of leases are compared with this time, because the browser's clock may be
// wrong.

import { effect, signal } from "@preact/signals";

let offset = 0;
let tenth = 0;

/** The daemon's time in milliseconds since 1970. It changes each second. */
export const now = signal(Date.now());

/** Sets the daemon's time from an answer. Assumes that the daemon read its clock halfway between request and answer. */
export const settleClock = (daemon: string, asked: number, answered: number): void => {
  const time = Date.parse(daemon);
  if (Number.isNaN(time)) return;
  offset = time - (asked + answered) / 2;
  now.value = Date.now() + offset;
};

export const exactNow = (): number => Date.now() + offset;

/** The daemon's time like `now`. It changes every ten seconds, which is enough for "3 min ago". */
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
