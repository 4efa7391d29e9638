// Accessibility checks with axe: the WCAG 2.2 rules up to level AA.

import type { Page } from "@playwright/test";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const SOURCE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];

interface Axe {
  run(options: object): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }>;
}

/** Returns the violations on the current page, one line each. */
export async function axe(page: Page): Promise<string[]> {
  // The content security policy of the page allows no further script, but the debugger of the browser can inject a
  // script.
  await page.evaluate(SOURCE);
  return page.evaluate(async (tags) => {
    // axe turns this rule off by default.
    const rules = { "target-size": { enabled: true } };
    const { violations } = await (window as unknown as { axe: Axe }).axe.run({ runOnly: tags, rules });
    return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 160)}`));
  }, TAGS);
}
