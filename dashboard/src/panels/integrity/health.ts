// Signs for the health of a check. `teamlog doctor check` prints the same signs.

import type { Health } from "../../api/types.ts";

export interface Look {
  tone: string;
  sign: string;
}

export const HEALTH: Readonly<Record<Health, Look>> = {
  healthy: { tone: "good", sign: "✓" },
  warn: { tone: "warn", sign: "!" },
  unhealthy: { tone: "bad", sign: "✕" },
};

const WORST_FIRST: readonly Health[] = ["unhealthy", "warn", "healthy"];

/** Sorts checks. Unhealthy checks come first. */
export function byHealth<C extends { status: Health }>(checks: readonly C[]): C[] {
  return [...checks].sort((a, b) => WORST_FIRST.indexOf(a.status) - WORST_FIRST.indexOf(b.status));
}

export function worstOf(checks: readonly { status: Health }[]): Health {
  return byHealth(checks)[0]?.status ?? "healthy";
}
