// Compares pictures of each panel in the light and dark theme with stored pictures. snapshots/README.md describes the
// pictures. The team is a stored morning (data/team.jsonl), shown at a past point, so that no displayed time changes.
// `npm run pictures` makes new pictures.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { axe } from "./axe";
import { expect, go, open, test } from "./teamlog";

const EVENTS = readFileSync(join(import.meta.dirname, "data", "team.jsonl"), "utf8");
const LAST = EVENTS.trim().split("\n").length;

/** Name of each picture, and the address that it shows. */
const PICTURES: [string, string][] = [
  ["crew", `/t/shop/crew?at=${LAST}`],
  ["board", `/t/shop/board?at=${LAST}`],
  ["attention", `/t/shop/attention?at=${LAST}`],
  ["live", `/t/shop/live?at=${LAST}`],
  ["traces", `/t/shop/trace?at=${LAST}`],
  ["trace", `/t/shop/trace/tr-checkout?at=${LAST}`],
  ["task", `/t/shop/task/C-2?at=${LAST}`],
  ["threads", `/t/shop/threads/thread-0001?at=${LAST}`],
  ["inbox", `/t/shop/inbox/ada?at=${LAST}`],
  ["modes", `/t/shop/modes?at=${LAST}`],
  ["usage", `/t/shop/usage?at=${LAST}`],
  ["integrity", "/t/shop/integrity"],
];

for (const theme of ["light", "dark"] as const) {
  test(`pictures, ${theme}`, async ({ page, root }) => {
    test.setTimeout(120_000);
    root.feed(EVENTS, "import", "shop", "--events", "-");
    await page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" });
    await page.clock.setFixedTime(new Date("2026-03-02T09:26:00Z"));
    await open(page, root, "", "--team", "shop");
    for (const [name, place] of PICTURES) {
      await go(page, place);
      await expect(page.getByRole("main")).not.toBeEmpty();
      await page.waitForTimeout(400);
      await expect.soft(page.getByRole("alert"), name).toHaveCount(0);
      expect.soft(await axe(page), `${name}, ${theme}`).toEqual([]);
      // Fonts and new browser versions change a few pixels. Another layout changes many.
      await expect.soft(page).toHaveScreenshot(`${name}-${theme}.png`, {
        mask: [page.locator("[data-moves]")],
        maxDiffPixelRatio: 0.02,
        animations: "disabled",
      });
    }
  });
}

test("every panel fits a narrow screen", async ({ page, root }) => {
  root.feed(EVENTS, "import", "shop", "--events", "-");
  await page.setViewportSize({ width: 360, height: 740 });
  await open(page, root, "", "--team", "shop");
  for (const [name, place] of PICTURES) {
    await go(page, place);
    await expect(page.getByRole("main")).not.toBeEmpty();
    await page.waitForTimeout(200);
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    expect.soft(overflow, name).toBeLessThanOrEqual(0);
    expect.soft(await axe(page), name).toEqual([]);
  }
});
