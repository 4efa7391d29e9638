// Where the time slider stands. The page's `at` is a seq or a time; the slider is one over seqs, since every seq is a
// state of the team and most times are not.

/** The seq that an `at` means on the slider; `null` for a time, which only the daemon can place. */
export function seqOf(at: string | null): number | null {
  return at !== null && /^\d+$/.test(at) ? Number(at) : null;
}

/** Where a key moves the slider to: `'now'` for the end, `null` for a key that moves nothing. */
export function moved(key: string, seq: number, last: number, big: boolean): number | "now" | null {
  const page = Math.max(10, Math.round(last / 20));
  switch (key) {
    case "ArrowLeft":
    case "ArrowDown":
      return Math.max(1, seq - (big ? 10 : 1));
    case "ArrowRight":
    case "ArrowUp":
      return upTo(seq + (big ? 10 : 1), last);
    case "PageDown":
      return Math.max(1, seq - page);
    case "PageUp":
      return upTo(seq + page, last);
    case "Home":
      return 1;
    case "End":
      return "now";
    default:
      return null;
  }
}

function upTo(seq: number, last: number): number | "now" {
  return seq >= last ? "now" : seq;
}

/** Seqs to ask the times of, for ticks: evenly spread, first and last among them. */
export function tickSeqs(last: number, most: number): number[] {
  if (last < 1 || most < 1) return [];
  if (last === 1 || most === 1) return [1];
  const count = Math.min(most, last);
  const seqs = Array.from({ length: count }, (_, at) => Math.round(1 + (at * (last - 1)) / (count - 1)));
  return [...new Set(seqs)];
}
