// An event in one line: time, actor, kind and subject.

import type { JSX } from "preact";
import type { LogEvent } from "../api/types.ts";
import { valueOf, type Field } from "../state/filter.ts";
import { Chip } from "./parts.tsx";
import { brief, cut, jsonOf, Text } from "./text.tsx";

/** Payload fields that describe an event in words, most informative first. */
const TELLING = ["subject", "title", "note", "body", "message", "text", "summary", "reason", "error", "result", "description", "status", "phase"] as const;

const object = (value: unknown): Record<string, unknown> | null =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null;

/** Payload fields that are not shown, because a column shows them or because they do not help readers. */
const TOLD = new Set(["task_id", "worker", "agent", "agent_id", "token", "claim_token", "id", "message_id", "request_id", "thread_id", "trace_id", "team_name", "schema_version", "from", "to", "from_worker", "to_worker", "created_at"]);


/** Summarises a payload in one line: the most informative field, or else all fields in short form. */
export const summaryOf = (event: LogEvent): string => {
  const payload = object(event.payload);
  if (payload === null) return event.payload === undefined || event.payload === null ? "" : cut(jsonOf(event.payload), 300);
  const message = object(payload["message"]);
  for (const part of [object(message?.["payload"]), message, object(payload["payload"]), payload]) {
    for (const name of TELLING) {
      const value = part?.[name];
      if (typeof value === "string" && value !== "") return cut(value, 300);
    }
  }
  const parts = Object.entries(message ?? payload).filter(([name, value]) => !TOLD.has(name) && value !== null);
  return cut(parts.map(([name, value]) => `${name.replaceAll("_", " ")} ${brief(value)}`).join(", "), 300);
};

const KIND_TONES: readonly [RegExp, "error" | "warn" | "ok" | "accent"][] = [
  [/failed|dead_letter|refused|quarantined|salvaged|breach/, "error"],
  [/expired|retry|blocked|canceled|exceeded/, "warn"],
  [/completed|acked/, "ok"],
  [/claimed|created|renewed/, "accent"],
];

export const kindTone = (kind: string): string => KIND_TONES.find(([pattern]) => pattern.test(kind))?.[1] ?? "";

interface ValueProps {
  event: LogEvent;
  field: Field;
  before?: string;
  onPick: (field: Field, value: string, out: boolean) => void;
}

/** A value of an event. A click on it changes the filter. */
export const EventValue = ({ event, field, before, onPick }: ValueProps): JSX.Element | null => {
  const value = valueOf(event, field);
  if (value === undefined || value === null || value === "") return null;
  return (
    <Chip onPick={(out) => onPick(field, value, out)} title={`Only ${field} ${value}; with Alt, all but it`}>
      {before !== undefined && <span class="sub">{before}</span>}
      <span class={field === "kind" ? `kind ${kindTone(value)}` : undefined}><Text value={value} max={48} fixed /></span>
    </Chip>
  );
};
