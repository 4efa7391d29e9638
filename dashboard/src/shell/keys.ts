// Keys of the page. A panel adds keys while it is shown. Keys that are typed into a field are ignored.

import { useEffect } from "preact/hooks";

type Handler = (event: KeyboardEvent) => void;

const typed = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName));

/** Returns the name of a key, such as `Ctrl-K`, `?` or `ArrowDown`. Command counts as Ctrl. */
export const nameOfKey = (event: KeyboardEvent): string => `${event.ctrlKey || event.metaKey ? "Ctrl-" : ""}${event.altKey ? "Alt-" : ""}${event.key.length === 1 && (event.ctrlKey || event.metaKey) ? event.key.toUpperCase() : event.key}`;

/** Calls handlers by the names of keys, outside of fields and dialogs. Keys with Ctrl also work inside fields. */
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
