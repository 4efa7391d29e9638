// Evidence that the log can be trusted: its head, the last verification and doctor check, receipts, subscriptions,
// segments, disk usage and backups.

import type { PanelEntry } from "./index.ts";
import { Checks } from "./integrity/checks.tsx";
import { Head } from "./integrity/head.tsx";
import { Receipts } from "./integrity/receipts.tsx";
import { Storage } from "./integrity/storage.tsx";
import { Subscriptions } from "./integrity/subscriptions.tsx";
import { Verification } from "./integrity/verification.tsx";
import { commandOf, Panel } from "./page.tsx";

function Integrity() {
  return (
    <Panel title="Integrity" command={commandOf("verify", "TEAM")}>
      <div class="two">
        <Verification />
        <Receipts />
      </div>
      <div class="two">
        <Head />
        <Checks />
      </div>
      <Subscriptions />
      <Storage />
    </Panel>
  );
}

export const panel: PanelEntry = { id: "integrity", title: "Integrity", order: 80, key: "y", component: Integrity };
