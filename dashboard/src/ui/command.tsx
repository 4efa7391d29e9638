// The command line that is equivalent to a view or an action of the page, with a button for copying.

import { useState } from "preact/hooks";
import type { JSX } from "preact";
import { at, team } from "../state/route.ts";
import { isOdd, visible } from "./text.tsx";

const escapedIn = (character: string): string => {
  const code = character.codePointAt(0) ?? 0;
  if (character === "'" || character === "\\") return `\\${character}`;
  if (!isOdd(character)) return character;
  return code < 0x80 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`;
};

/**
 * Quotes an argument for a shell if necessary. Characters that a terminal would interpret or hide are escaped, so
 * that a pasted command runs as shown.
 */
export const quoted = (argument: string): string => {
  if (/^[A-Za-z0-9_.,:\/@%+=-]+$/.test(argument)) return argument;
  if (isOdd(argument)) return `$'${[...argument].map(escapedIn).join("")}'`;
  return `'${argument.replaceAll("'", `'\\''`)}'`;
};

/**
 * Returns the command line of `teamlog` with these arguments. Empty arguments are left out. `TEAM` is replaced by the
 * shown team.
 */
export const commandOf = (...argv: (string | number | null | undefined | false)[]): string =>
  ["teamlog", ...argv.filter((one): one is string | number => one !== null && one !== undefined && one !== false && one !== "")]
    .map((one) => quoted(one === "TEAM" ? team.value : String(one)))
    .join(" ");

/** Returns the command line of a command that only reads. If the page shows the past, adds `--at`. */
export const readingOf = (...argv: (string | number | null | undefined | false)[]): string =>
  at.value === null ? commandOf(...argv) : commandOf(...argv, "--at", at.value);

export const copyText = async (text: string): Promise<boolean> => {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Without permission for the clipboard, copy through a selection.
    const field = document.createElement("textarea");
    field.value = text;
    field.className = "offscreen";
    document.body.append(field);
    field.select();
    const done = document.execCommand("copy");
    field.remove();
    return done;
  }
};

interface CommandProps {
  command: string;
  /** True to show only the button. The command is then its title. */
  short?: boolean;
}

export const Command = ({ command, short = false }: CommandProps): JSX.Element => {
  const [said, setSaid] = useState("");
  const copy = async (event: Event): Promise<void> => {
    event.stopPropagation();
    setSaid((await copyText(command)) ? "Copied" : "Not copied");
    setTimeout(() => setSaid(""), 1500);
  };
  const button = (
    <button type="button" class="quiet copy" title={`Copy as command: ${visible(command)}`} aria-label={`Copy as command: ${visible(command)}`} onClick={(event) => void copy(event)}>
      <span aria-hidden="true">{said === "" ? (short ? "$ copy" : "copy") : said}</span>
      <span class="offscreen" role="status">{said}</span>
    </button>
  );
  return short ? button : (
    <span class="command">
      <code>{visible(command)}</code>
      {button}
    </span>
  );
};
