// Display of an outcome: a tone, a sign and a word.

export type Tone = "good" | "bad" | "warn" | "idle" | "open";

export interface OutcomeLook {
  tone: Tone;
  sign: string;
  word: string;
}

const LOOKS: Readonly<Record<string, OutcomeLook>> = {
  completed: { tone: "good", sign: "✓", word: "completed" },
  acked: { tone: "good", sign: "✓", word: "acknowledged" },
  failed: { tone: "bad", sign: "✕", word: "failed" },
  dead_letter: { tone: "bad", sign: "✕", word: "dead letter" },
  lease_expired: { tone: "warn", sign: "◔", word: "lease expired" },
  canceled: { tone: "idle", sign: "⊘", word: "canceled" },
  released: { tone: "idle", sign: "↩", word: "released" },
  running: { tone: "open", sign: "…", word: "running" },
  open: { tone: "open", sign: "…", word: "open" },
  in_progress: { tone: "open", sign: "…", word: "in progress" },
  blocked: { tone: "warn", sign: "‖", word: "blocked" },
  pending: { tone: "idle", sign: "○", word: "pending" },
  assigned: { tone: "idle", sign: "◇", word: "assigned" },
  none: { tone: "idle", sign: "·", word: "no task" },
};

/** Returns the display of an outcome or status. */
export function outcomeOf(name: string): OutcomeLook {
  return LOOKS[name] ?? { tone: "idle", sign: "·", word: name.replaceAll("_", " ") };
}
