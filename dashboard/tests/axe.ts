// What axe finds of the WCAG 2.2 rules up to AA, a line each.

import type { Page } from "@playwright/test";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const SOURCE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];

interface Axe {
  run(options: object): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }>;
}

/** The violations of the page as it is. */
export async function axe(page: Page): Promise<string[]> {
  // The page's policy lets no script in; the browser's own console may add one all the same.
  await page.evaluate(SOURCE);
  return page.evaluate(async (tags) => {
    // The rule is off in axe unless it is asked for.
    const rules = { "target-size": { enabled: true } };
    const { violations } = await (window as unknown as { axe: Axe }).axe.run({ runOnly: tags, rules });
    return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 160)}`));
  }, TAGS);
}
