// Converts times to positions in a chart. Bars, dots, ticks and the overview use this conversion, so that their
// positions agree.

/** A range of time in microseconds. */
export interface Stretch {
  from: number;
  to: number;
}

/** Returns the relative position of a time in a range: 0 at its start, 1 at its end. */
export function share(at: number, { from, to }: Stretch): number {
  return to > from ? (at - from) / (to - from) : 0;
}

/** Returns left edge and width of a time range in percent of the chart, or `null` if it is outside of the chart. */
export function place(from: number, to: number, stretch: Stretch): { left: number; width: number } | null {
  const left = share(from, stretch);
  const right = share(to, stretch);
  if (right < 0 || left > 1) return null;
  const begin = Math.max(0, left);
  return { left: begin * 100, width: (Math.min(1, right) - begin) * 100 };
}

const STEPS = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6, 2e6, 5e6, 1e7, 1.5e7, 3e7, 6e7,
  1.2e8, 3e8, 6e8, 9e8, 1.8e9, 3.6e9, 7.2e9, 1.08e10, 2.16e10, 4.32e10, 8.64e10, 1.728e11, 6.048e11, 2.592e12, 7.776e12,
  3.1536e13,
];

/** Returns the positions of ticks in microseconds since `zero`. */
export function ticks(stretch: Stretch, zero: number, most: number): number[] {
  const length = stretch.to - stretch.from;
  if (length <= 0 || most < 1) return [];
  const step = STEPS.find((each) => length / each <= most) ?? length / most;
  const marks: number[] = [];
  for (let at = Math.ceil((stretch.from - zero) / step) * step; at <= stretch.to - zero; at += step) marks.push(at);
  return marks;
}

/** Formats a duration with at most two units. */
export function duration(micros: number): string {
  const sign = micros < 0 ? "−" : "";
  const us = Math.abs(micros);
  if (us === 0) return "0 s";
  if (us < 1000) return `${sign}${Math.round(us)} µs`;
  if (us < 1e6) return `${sign}${trim(us / 1e3)} ms`;
  const seconds = us / 1e6;
  if (seconds < 60) return `${sign}${trim(seconds)} s`;
  const whole = Math.round(seconds);
  if (whole < 3600) return sign + two(Math.floor(whole / 60), "m", whole % 60, "s");
  const minutes = Math.round(whole / 60);
  if (minutes < 1440) return sign + two(Math.floor(minutes / 60), "h", minutes % 60, "m");
  const hours = Math.round(minutes / 60);
  return sign + two(Math.floor(hours / 24), "d", hours % 24, "h");
}

function trim(value: number): string {
  return value >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(3)));
}

function two(big: number, bigUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${big} ${bigUnit}` : `${big} ${bigUnit} ${small} ${smallUnit}`;
}
