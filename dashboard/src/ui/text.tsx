// Text that agents wrote. It is only ever a text node; what would change how the text around it reads is shown as a mark,
// and a very long text is cut, with a way to see more.

import { useState } from "preact/hooks";
import type { JSX } from "preact";

/** Controls, and characters that turn, hide or join what stands beside them; `projections/src/hidden.rs` has the same. */
const ODD =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]|\p{Cs}/gu;
/** A selector or a joiner where pictures and scripts need it: by what stands before and behind it. */
const SELECTED = /[\p{Extended_Pictographic}#*0-9]$/u;
const JOINED = /\p{Extended_Pictographic}[\u{fe0e}\u{fe0f}\u{1f3fb}-\u{1f3ff}]*$/u;
const PICTURE = /^\p{Extended_Pictographic}/u;
const LETTER = /[\u0600-\u061b\u061d-\u0dff]/;
/** How far back a base is looked for. */
const BEHIND = 12;

const isNeeded = (text: string, at: number): boolean => {
  const character = text.charAt(at);
  const before = text.slice(Math.max(0, at - BEHIND), at);
  const after = text.slice(at + 1, at + 3);
  if (/[\ufe0e\ufe0f]/.test(character)) return SELECTED.test(before);
  if (!/[\u200c\u200d]/.test(character)) return false;
  return (character === "\u200d" && JOINED.test(before) && PICTURE.test(after)) || (LETTER.test(before.slice(-1)) && LETTER.test(after.charAt(0)));
};

/** Whether a text has any of them. */
export const isOdd = (text: string): boolean => text.search(ODD) >= 0;

export interface Part {
  text: string;
  /** The code point's name where the part is a mark. */
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

/** Splits a text into what can stand as it is and what is shown as a mark. `lines` leaves line ends and tabs as they are. */
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

/** What stands as it is and what is shown as a mark, where only a string will do, as in SVG. */
export const visible = (text: string): string =>
  partsOf(text)
    .map((part) => part.text)
    .join("");

/** JSON without the tokens of claims: whose a claim is its token proves, so that it is not shown around. */
export const jsonOf = (value: unknown, indent = 0): string =>
  JSON.stringify(value, (name, one: unknown) => (["token", "claim_token"].includes(name) && typeof one === "string" ? "…" : one), indent) ?? "";

/** Any value of an answer on one line: text as it is, else JSON. */
export const brief = (value: unknown): string => (typeof value === "string" ? value : jsonOf(value));

/** Cuts between characters, never within one. */
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
  /** How much is shown at first. */
  max?: number;
  /** Keep line ends. */
  lines?: boolean;
  /** Only cut, as where a click on the text means something else already. */
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
