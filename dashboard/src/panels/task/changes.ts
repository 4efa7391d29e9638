// Compares two states of a task.

import { brief } from "../../ui/text.tsx";

export interface Change {
  field: string;
  from: unknown;
  to: unknown;
}

// Names of fields that change with every event, so their changes say nothing about the task.
const NOISE = new Set(["schema_version", "schemaVersion", "version", "snapshot_version", "seq"]);

/** Returns the fields in which two states differ, sorted by name. Nested fields have a path as name. */
export function changesBetween(from: unknown, to: unknown): Change[] {
  const changes: Change[] = [];
  walk("", from ?? {}, to ?? {}, changes);
  return changes.sort((a, b) => (a.field < b.field ? -1 : a.field > b.field ? 1 : 0));
}

function walk(path: string, from: unknown, to: unknown, changes: Change[]): void {
  if (isRecord(from) && isRecord(to)) {
    for (const name of new Set([...Object.keys(from), ...Object.keys(to)])) {
      if (path === "" && NOISE.has(name)) continue;
      walk(path ? `${path}.${name}` : name, from[name], to[name], changes);
    }
    return;
  }
  if (JSON.stringify(from ?? null) !== JSON.stringify(to ?? null))
    changes.push({ field: path, from: from ?? null, to: to ?? null });
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Formats a value as one line. An empty value becomes a word, so that a change to nothing is visible. */
export function shown(value: unknown): string {
  if (value === null || value === undefined) return "nothing";
  if (value === "") return "empty";
  return brief(value);
}
