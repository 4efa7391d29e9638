// Values of an event that filter the list of events.

import type { JSX } from "preact";
import type { LogEvent } from "../api/types.ts";
import { valueOf, type Field } from "../state/filter.ts";
import { Chip } from "./parts.tsx";
import { Text } from "./text.tsx";

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
