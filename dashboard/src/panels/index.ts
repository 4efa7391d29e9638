// All panels. Each file in this directory that exports `panel` is added automatically.

import type { ComponentType } from "preact";

export interface PanelEntry {
  /** Name of the panel in the address, a noun. */
  id: string;
  title: string;
  /** Position in the navigation. Without it, the navigation does not show the panel. */
  order?: number;
  /** Key that opens the panel when it is pressed after `g`. */
  key?: string;
  /** Keys of the panel and their descriptions, for the list of keys. */
  keys?: readonly (readonly [string, string])[];
  /** True if the panel shows all teams instead of one team. */
  root?: boolean;
  component: ComponentType;
}

const files = import.meta.glob<{ panel?: PanelEntry }>("./*.tsx", { eager: true });

export const panels: readonly PanelEntry[] = Object.values(files)
  .flatMap((file) => (file.panel === undefined ? [] : [file.panel]))
  .sort((a, b) => (a.order ?? 1e9) - (b.order ?? 1e9) || (a.id < b.id ? -1 : 1));

export const panelOf = (id: string, root: boolean): PanelEntry | undefined =>
  panels.find((panel) => panel.id === id && (panel.root ?? false) === root);
