// Compares a team of 30,000 tasks with a team of 700: a longer list must not cost more. The test counts the nodes of
// the document and the computing time of the page's thread, which do not depend on other load of the machine. Frame
// times are in docs/performance.md.

import type { CDPSession, Page } from "@playwright/test";
import { expect, go, open, test } from "./teamlog";

const FEW = 700;
const MANY = 30_000;
const PLACES = ["board", "live", "trace/tr-long"];

// Recording a picture of each frame would dominate the measured cost.
test.use({ trace: "off" });

test("30,000 tasks", async ({ browser, page, root }) => {
  test.setTimeout(180_000);
  root.feed(messages(FEW, 1), "import", "small", "--messages", "-", "--no-views");
  root.feed(messages(MANY, 10), "import", "large", "--messages", "-", "--no-views");
  await open(page, root, "", "--team", "large");

  await go(page, "/t/large/board");
  await expect(page.locator(".card").first()).toBeVisible({ timeout: 20_000 });
  await expect(page.getByRole("main")).toContainText("30,000 tasks", { timeout: 60_000 });
  await expect(page.getByRole("main")).not.toContainText("reading on…");
  await expect(page.getByRole("alert")).toHaveCount(0);

  const large = await costs(page, "large");
  const other = await browser.newPage();
  await open(other, root, "", "--team", "small");
  const small = await costs(other, "small");
  await other.close();
  for (const [at, place] of PLACES.entries()) {
    const [few, many] = [small[at]!, large[at]!];
    console.log(`${place}: ${shown(few)} of the small team, ${shown(many)} of the large one`);
    expect.soft(many.nodes, `${place}: nodes in the document`).toBeLessThan(2_000);
    expect.soft(many.ms, `${place}: ms to scroll`).toBeLessThan(3 * few.ms);
  }
});

/** Returns messages that assign `tasks` tasks, one second apart. Every `every`-th message belongs to one trace. */
function messages(tasks: number, every: number): string {
  const start = Date.UTC(2026, 0, 5);
  const at = (n: number) => new Date(start + n * 1000).toISOString();
  return Array.from({ length: tasks }, (_, n) => {
    const trace = n % every === 0 ? { trace_id: "tr-long" } : {};
    const payload = { subject: `Task ${n} of many`, ...trace };
    return JSON.stringify({
      id: `msg_${String(n).padStart(6, "0")}`, type: "task_assign", from: "lead", to: `agent-${n % 40}`, task_id: `T-${n}`, ...trace,
      created_at: at(n), priority: "normal", schema_version: 1, payload,
    });
  }).join("\n");
}

/** Number of nodes of a list in the document, and computing time of the page's thread while the list scrolls. */
interface Cost {
  nodes: number;
  ms: number;
}

const shown = ({ nodes, ms }: Cost) => `${nodes} nodes and ${ms.toFixed(0)} ms`;

/** Returns the costs of the lists in all panels. */
async function costs(page: Page, team: string): Promise<Cost[]> {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const found: Cost[] = [];
  for (const place of PLACES) {
    await go(page, `/t/${team}/${place}`);
    await page.locator(".card, [data-seq]").first().waitFor({ timeout: 20_000 });
    await expect(page.getByRole("main")).not.toContainText("reading on…", { timeout: 60_000 });
    // Take the minimum of three runs, because the first run also reads older pages, and garbage collection runs at
    // times.
    let ms = Infinity;
    for (let time = 0; time < 3; time++) {
      const before = await computed(session);
      await scroll(page);
      ms = Math.min(ms, (await computed(session)) - before);
    }
    found.push({ nodes: await page.locator("main *").count(), ms });
  }
  return found;
}

/** Returns the computing time of the page's thread in milliseconds. */
async function computed(session: CDPSession): Promise<number> {
  const { metrics } = await session.send("Performance.getMetrics");
  return 1000 * metrics.find(({ name }) => name === "ThreadTime")!.value;
}

/** Scrolls the longest list by 16,000 pixels, frame by frame. */
async function scroll(page: Page): Promise<void> {
  await page.evaluate(async () => {
    const lists = [...document.querySelectorAll<HTMLElement>("main, main *")];
    const list = lists.filter((node) => node.scrollHeight > node.clientHeight + 100 && /auto|scroll/.test(getComputedStyle(node).overflowY))
      .sort((one, other) => other.scrollHeight - one.scrollHeight)[0] ?? document.scrollingElement!;
    list.scrollTop = 0;
    for (let step = 0; step < 40; step++) {
      list.scrollTop += 400;
      await new Promise((frame) => requestAnimationFrame(frame));
    }
  });
}
