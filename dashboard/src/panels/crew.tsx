import type { JSX } from "preact";
import { Panel } from "../ui/parts.tsx";
import type { PanelEntry } from "./index.ts";
const Crew = (): JSX.Element => <Panel title="Crew">…</Panel>;
export const panel: PanelEntry = { id: "crew", title: "Crew", order: 10, key: "c", component: Crew };
