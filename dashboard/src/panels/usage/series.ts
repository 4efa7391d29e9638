// Computes stacked series of tokens over time for the chart.

export interface Series {
  name: string;
  tokens: readonly number[];
}

export interface Stacked {
  names: string[];
  /** Starts of the time buckets in seconds since 1970. */
  times: number[];
  /** End of the last bucket in seconds since 1970. */
  end: number;
  /** For each series, its values plus the values of the series below it. */
  tops: number[][];
  /** For each series, its values. */
  own: number[][];
  totals: number[];
}

/** Stacks series, largest at the bottom. Series after the first `most` are merged into "others". */
export function stack(
  from: number,
  bucketMs: number,
  series: readonly Series[],
  most = 6,
  others?: readonly number[],
): Stacked {
  const buckets = series.reduce((longest, each) => Math.max(longest, each.tokens.length), 0);
  const sums = series.map((each) => ({ each, sum: each.tokens.reduce((sum, tokens) => sum + tokens, 0) }));
  sums.sort((a, b) => b.sum - a.sum || (a.each.name < b.each.name ? -1 : 1));
  const shown: Series[] = sums.slice(0, most).map(({ each }) => each);
  const rest = sums.slice(most);
  if (rest.length > 0) {
    const sum = (at: number): number => rest.reduce((all, { each }) => all + (each.tokens[at] ?? 0), others?.[at] ?? 0);
    shown.push({ name: "all others", tokens: Array.from({ length: buckets }, (_, at) => sum(at)) });
  }
  const own = shown.map((each) => Array.from({ length: buckets }, (_, at) => each.tokens[at] ?? 0));
  const tops: number[][] = [];
  own.forEach((values, index) => {
    const below = tops[index - 1];
    tops.push(values.map((value, at) => value + (below?.[at] ?? 0)));
  });
  return {
    names: shown.map((each) => each.name),
    times: Array.from({ length: buckets }, (_, at) => (from + at * bucketMs) / 1000),
    end: (from + buckets * bucketMs) / 1000,
    tops,
    own,
    totals: tops[tops.length - 1] ?? [],
  };
}

/** Returns the running sums of the values. */
export function runningTotal(values: readonly number[]): number[] {
  let sum = 0;
  return values.map((value) => (sum += value));
}

/** Repeats the last value, because a bar reaches to the position of the next value. */
export function closed(values: readonly number[]): number[] {
  return [...values, ...values.slice(-1)];
}

/** Formats `12,400` as `12.4k`. */
export function short(tokens: number): string {
  if (tokens < 1000) return String(Math.round(tokens));
  if (tokens < 1e6) return `${Number((tokens / 1e3).toPrecision(3))}k`;
  return `${Number((tokens / 1e6).toPrecision(3))}M`;
}
