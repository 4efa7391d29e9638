// Finds a receipt in a text that the user dropped on the page: the output of `head --json`, the field of `--receipt`,
// or an answer that contains a receipt. The daemon checks if the receipt matches the log.

export type Receipt = Record<string, unknown>;

const LARGEST = 64 * 1024;

/** Returns the receipt in a text, or the reason why there is none. */
export function receiptIn(text: string): { receipt: Receipt } | { why: string } {
  if (text.trim() === "") return { why: "it is empty" };
  if (text.length > LARGEST) return { why: "it is larger than any receipt (64 KiB)" };
  const whole = parsed(text);
  const candidates = whole === undefined ? text.split("\n").map(parsed) : [whole];
  for (const candidate of candidates) {
    const receipt = find(candidate, 0);
    if (receipt) return { receipt };
  }
  return {
    why: whole === undefined ? "it is not JSON" : "it has no log, seq and digest, which every receipt has",
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function find(value: unknown, depth: number): Receipt | null {
  if (typeof value !== "object" || value === null || depth > 3) return null;
  const record = value as Receipt;
  if ("log" in record && "seq" in record && "digest" in record) return record;
  for (const name of ["receipt", "data", "head"]) {
    const inner = find(record[name], depth + 1);
    if (inner) return inner;
  }
  return null;
}
