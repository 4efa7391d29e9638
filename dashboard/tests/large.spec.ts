// A team of 30,000 tasks: the page comes up at once, and no list stops the eye. The bounds are wide: a neighbour on the
// machine makes a frame late, and what was measured without one stands in docs/performance.md.

import { expect, go, open, test } from "./teamlog";

const TASKS = 30_000;

/** Messages that assign so many tasks, a second apart, and one long story. */
function messages(): string {
  const start = Date.UTC(2026, 0, 5);
  const at = (n: number) => new Date(start + n * 1000).toISOString();
  return Array.from({ length: TASKS }, (_, n) => {
    const story = n % 10 === 0 ? { trace_id: "tr-long" } : {};
    const payload = { subject: `Task ${n} of many`, ...story };
    return JSON.stringify({
      id: `msg_${String(n).padStart(6, "0")}`, type: "task_assign", from: "lead", to: `agent-${n % 40}`, task_id: `T-${n}`, ...story,
      created_at: at(n), priority: "normal", schema_version: 1, payload,
    });
  }).join("\n");
}

test("30,000 tasks", async ({ page, root }) => {
  test.setTimeout(180_000);
  root.feed(messages(), "import", "large", "--messages", "-", "--no-views");
  await open(page, root, "", "--team", "large");

  await go(page, "/t/large/board");
  await expect(page.locator(".card").first()).toBeVisible({ timeout: 20_000 });
  expect(await page.locator(".card").count()).toBeLessThan(1_000);
  await expect(page.getByRole("main")).toContainText("30,000 tasks", { timeout: 60_000 });
  await expect(page.getByRole("main")).not.toContainText("reading on…");
  await expect(page.getByRole("alert")).toHaveCount(0);

  for (const place of ["board", "live", "trace/tr-long"]) {
    await go(page, `/t/large/${place}`);
    await page.locator(".card, [data-seq]").first().waitFor({ timeout: 20_000 });
    // The page's own work makes a frame late each time, a neighbour's hardly ten times.
    let longest = Infinity;
    for (let times = 0; times < 10 && longest >= 250; times++) longest = Math.min(longest, await scrolled(page));
    expect.soft(longest, `${place}: longest frame in ms`).toBeLessThan(250);
    console.log(`${place}: longest frame while scrolling ${longest.toFixed(0)} ms`);
  }
});

/** Scrolls what scrolls, and gives the longest time between two frames. */
async function scrolled(page: import("@playwright/test").Page): Promise<number> {
  return page.evaluate(async () => {
    const lists = [...document.querySelectorAll<HTMLElement>("main, main *")];
    const list = lists.filter((node) => node.scrollHeight > node.clientHeight + 100 && /auto|scroll/.test(getComputedStyle(node).overflowY))
      .sort((one, other) => other.scrollHeight - one.scrollHeight)[0] ?? document.scrollingElement!;
    list.scrollTop = 0;
    let longest = 0;
    let last = performance.now();
    for (let step = 0; step < 90; step++) {
      list.scrollTop += 400;
      await new Promise((frame) => requestAnimationFrame(frame));
      const now = performance.now();
      if (step > 2) longest = Math.max(longest, now - last);
      last = now;
    }
    return longest;
  });
}
