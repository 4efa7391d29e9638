// Keys of the whole page. A panel adds its own while it is shown; a key that is typed into a field is the field's.

import { useEffect } from "preact/hooks";

type Handler = (event: KeyboardEvent) => void;

const typed = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName));

/** `Ctrl-K`, `?`, `ArrowDown`: a key by its name, with Ctrl (or Command) where it is held. */
export const nameOfKey = (event: KeyboardEvent): string => `${event.ctrlKey || event.metaKey ? "Ctrl-" : ""}${event.altKey ? "Alt-" : ""}${event.key.length === 1 && (event.ctrlKey || event.metaKey) ? event.key.toUpperCase() : event.key}`;

/** Listens to keys by name, outside of fields and dialogs; with Ctrl also within fields. */
export const useKeys = (keys: Readonly<Record<string, Handler>>): void => {
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => {
      const name = nameOfKey(event);
      const handler = keys[name];
      if (handler === undefined || event.defaultPrevented) return;
      if (typed(event.target) && !name.startsWith("Ctrl-")) return;
      if (document.querySelector("dialog[open]") !== null) return;
      handler(event);
    };
    window.addEventListener("keydown", listen);
    return () => window.removeEventListener("keydown", listen);
  });
};
