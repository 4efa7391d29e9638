// The dialog of the page that is open.

import { signal } from "@preact/signals";

export type Overlay = "palette" | "keys";

export const overlay = signal<Overlay | null>(null);

export const open = (which: Overlay | null): void => {
  overlay.value = which;
};
