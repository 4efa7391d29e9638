// All panels. Each is one file here that exports `panel`; adding the file is enough.

import type { ComponentType } from "preact";

export interface PanelEntry {
  /** Its name in the address: a noun. */
  id: string;
  title: string;
  /** Where it stands in the navigation; left out of it without. */
  order?: number;
  /** Pressed after `g`, leads here. */
  key?: string;
  /** Keys that count while it is shown, for the list of keys. */
  keys?: readonly (readonly [string, string])[];
  /** Shows all teams rather than one. */
  root?: boolean;
  component: ComponentType;
}

const files = import.meta.glob<{ panel?: PanelEntry }>("./*.tsx", { eager: true });

export const panels: readonly PanelEntry[] = Object.values(files)
  .flatMap((file) => (file.panel === undefined ? [] : [file.panel]))
  .sort((a, b) => (a.order ?? 1e9) - (b.order ?? 1e9) || (a.id < b.id ? -1 : 1));

export const panelOf = (id: string, root: boolean): PanelEntry | undefined =>
  panels.find((panel) => panel.id === id && (panel.root ?? false) === root);
