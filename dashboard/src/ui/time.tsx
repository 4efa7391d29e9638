// Times in the format that the user chose: as age, in local time, or in UTC. The title has the exact time.

import type { JSX } from "preact";
import { now, slowNow } from "../state/clock.ts";
import { timeForm } from "../state/settings.ts";

const two = (value: number): string => String(value).padStart(2, "0");

/** Formats durations as `4 s`, `3 min`, `2 h 5 min` or `6 d`. */
export const spanOf = (ms: number): string => {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
  return `${Math.floor(hours / 24)} d`;
};

/** Formats the remaining time of a lease as `4:59` or `1:02:03`. */
export const countdownOf = (ms: number): string => {
  const seconds = Math.max(0, Math.round(ms / 1000));
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor(seconds / 60) % 60;
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
};

export const clockOf = (time: number, today: number, utc: boolean): string => {
  const at = new Date(time);
  const ref = new Date(today);
  const [year, month, day] = utc
    ? [at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate()]
    : [at.getFullYear(), at.getMonth(), at.getDate()];
  const same = utc
    ? year === ref.getUTCFullYear() && month === ref.getUTCMonth() && day === ref.getUTCDate()
    : year === ref.getFullYear() && month === ref.getMonth() && day === ref.getDate();
  const clock = utc
    ? `${two(at.getUTCHours())}:${two(at.getUTCMinutes())}:${two(at.getUTCSeconds())}Z`
    : `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
  return same ? clock : `${year}-${two(month + 1)}-${two(day)} ${clock}`;
};

interface TimeProps {
  value: string | null | undefined;
  /** True to update each second. */
  exact?: boolean;
}

export const Time = ({ value, exact = false }: TimeProps): JSX.Element => {
  const time = value === null || value === undefined ? Number.NaN : Date.parse(value);
  return (
    <time class="time" dateTime={value ?? undefined} title={value ?? undefined}>
      {Number.isNaN(time) ? "–" : textOf(time, exact)}
    </time>
  );
};

const textOf = (time: number, exact: boolean): string => {
  const current = exact ? now.value : slowNow.value;
  if (timeForm.value !== "relative") return clockOf(time, current, timeForm.value === "utc");
  const ms = Math.max(current, now.peek()) - time;
  return ms <= -1000 ? `in ${spanOf(-ms)}` : `${spanOf(ms)} ago`;
};

interface CountdownProps {
  until: string;
  /** Text that is shown after the time is over. */
  over?: string;
}

/** The remaining time, updated each second. */
export const Countdown = ({ until, over = "lease expired" }: CountdownProps): JSX.Element => {
  const left = Date.parse(until) - now.value;
  return left <= 0 ? (
    <span class="countdown over" title={until}>
      {over}
    </span>
  ) : (
    <span class={left < 30_000 ? "countdown soon" : "countdown"} title={until}>
      {countdownOf(left)}
    </span>
  );
};
