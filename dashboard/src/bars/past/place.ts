// Position of the time slider. The `at` of the page is a seq or a time. The slider uses seqs, because every seq is a
// state of the team.

/** Returns the seq for an `at`, or `null` for a time, which only the daemon can convert to a seq. */
export function seqOf(at: string | null): number | null {
  return at !== null && /^\d+$/.test(at) ? Number(at) : null;
}

/** Returns the seq to which a key moves the slider, `'now'` for the end, or `null` for other keys. */
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

/** Returns the seqs whose times are shown below the slider. They are evenly spaced and include the first and the last. */
export function tickSeqs(last: number, most: number): number[] {
  if (last < 1 || most < 1) return [];
  if (last === 1 || most === 1) return [1];
  const count = Math.min(most, last);
  const seqs = Array.from({ length: count }, (_, at) => Math.round(1 + (at * (last - 1)) / (count - 1)));
  return [...new Set(seqs)];
}
