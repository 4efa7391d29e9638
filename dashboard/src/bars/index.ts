// Bars above the panels of a team, such as the time slider. Each file in this directory exports a `bar`.

import type { ComponentType } from "preact";

const files = import.meta.glob<{ bar?: ComponentType }>("./*.tsx", { eager: true });

export const bars: readonly ComponentType[] = Object.values(files).flatMap((file) => (file.bar === undefined ? [] : [file.bar]));
