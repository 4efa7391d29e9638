// Text that agents wrote. Such text is only inserted as a text node. Characters that change how the text around them
// is displayed are shown as marks. A very long text is cut and can be expanded.

import { useState } from "preact/hooks";
import type { JSX } from "preact";

/**
 * Control characters, and characters that reverse, hide or join the text around them. `projections/src/hidden.rs` has
 * an equal list.
 */
const ODD =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]|\p{Cs}/gu;
/** Matches text after which a variation selector or joiner is needed for emoji, so it is not marked. */
const SELECTED = /[\p{Extended_Pictographic}#*0-9]$/u;
const JOINED = /\p{Extended_Pictographic}[\u{fe0e}\u{fe0f}\u{1f3fb}-\u{1f3ff}]*$/u;
const PICTURE = /^\p{Extended_Pictographic}/u;
const LETTER = /[\u0600-\u061b\u061d-\u0dff]/;
/** Number of characters before a selector in which its base character is searched. */
const BEHIND = 12;

const isNeeded = (text: string, at: number): boolean => {
  const character = text.charAt(at);
  const before = text.slice(Math.max(0, at - BEHIND), at);
  const after = text.slice(at + 1, at + 3);
  if (/[\ufe0e\ufe0f]/.test(character)) return SELECTED.test(before);
  if (!/[\u200c\u200d]/.test(character)) return false;
  return (character === "\u200d" && JOINED.test(before) && PICTURE.test(after)) || (LETTER.test(before.slice(-1)) && LETTER.test(after.charAt(0)));
};

/** Returns true if a text contains such characters. */
export const isOdd = (text: string): boolean => text.search(ODD) >= 0;

export interface Part {
  text: string;
  /** Name of the code point if the part is a mark. */
  mark: string | null;
}

const nameOf = (character: string): string => `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;

const pictureOf = (character: string): string => {
  const code = character.codePointAt(0) ?? 0;
  if (code === 0x0a) return "↵";
  if (code === 0x09) return "⇥";
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  if (code === 0x7f) return "␡";
  return nameOf(character);
};

/** Splits a text into plain parts and marks. With `lines`, line ends and tabs are plain. */
export const partsOf = (text: string, lines = false): Part[] => {
  const parts: Part[] = [];
  let from = 0;
  for (const found of text.matchAll(ODD)) {
    const character = found[0];
    if (lines && (character === "\n" || character === "\t")) continue;
    if (isNeeded(text, found.index)) continue;
    if (found.index > from) parts.push({ text: text.slice(from, found.index), mark: null });
    parts.push({ text: pictureOf(character), mark: nameOf(character) });
    from = found.index + character.length;
  }
  if (from < text.length) parts.push({ text: text.slice(from), mark: null });
  return parts;
};

/** Returns a text with marks as a string, for places that need a string, such as SVG. */
export const visible = (text: string): string =>
  partsOf(text)
    .map((part) => part.text)
    .join("");

/** Formats JSON without claim tokens, because the token proves who holds a claim. */
export const jsonOf = (value: unknown, indent = 0): string =>
  JSON.stringify(value, (name, one: unknown) => (["token", "claim_token"].includes(name) && typeof one === "string" ? "…" : one), indent) ?? "";

/** Formats a value of an answer on one line: a text unchanged, any other value as JSON. */
export const brief = (value: unknown): string => (typeof value === "string" ? value : jsonOf(value));

/** Formats a value in words, never as JSON: `a, b` for a list, and `name value` for each field of an object. */
export const worded = (value: unknown): string => {
  if (Array.isArray(value)) return value.map(worded).filter((part) => part !== "").join(", ");
  if (typeof value !== "object") return value === undefined ? "" : String(value);
  return Object.entries(value ?? {}).filter(([, part]) => part !== null).map(([name, part]) => `${name.replaceAll("_", " ")} ${worded(part)}`).join(", ");
};

/** Cuts a text between characters, never inside one. */
export const cut = (text: string, max: number): string => {
  if (text.length <= max) return text;
  const end = /[\ud800-\udbff]/.test(text.charAt(max - 1)) ? max - 1 : max;
  return text.slice(0, end);
};

const marked = (text: string, lines: boolean): JSX.Element[] =>
  partsOf(text, lines).map((part, index) =>
    part.mark === null ? (
      <span key={index}>{part.text}</span>
    ) : (
      <span key={index} class="mark" title={part.mark}>
        {part.text}
      </span>
    ),
  );

interface TextProps {
  value: string;
  /** Number of characters that are shown at first. */
  max?: number;
  /** True to keep line ends. */
  lines?: boolean;
  /** True if the text cannot be expanded, because a click on it has another meaning. */
  fixed?: boolean;
}

const STEP = 20_000;

export const Text = ({ value, max = 400, lines = false, fixed = false }: TextProps): JSX.Element => {
  const [shown, setShown] = useState(max);
  const part = cut(value, shown);
  const rest = value.length - part.length;
  return (
    <bdi class={lines ? "text lines" : "text"}>
      {isOdd(part) ? marked(part, lines) : part}
      {rest > 0 && (fixed ? "…" : (
        <button
          type="button"
          class="more"
          onClick={(event) => {
            event.stopPropagation();
            setShown(shown + STEP);
          }}
        >
          … {rest.toLocaleString("en")} more
        </button>
      ))}
    </bdi>
  );
};
