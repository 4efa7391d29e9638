// Sessions: their start, their rights, and their end while the page is open.

import { appendFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, go, open, test } from "./teamlog";

test("a code is good once, and leaves no trace in the address", async ({ page, root, context }) => {
  root.run("init", "demo", "--members", "ada");
  const address = root.address("--team", "demo");
  const code = /code=([^&]+)/.exec(address)![1]!;
  await page.goto(address);
  await expect(page.getByRole("navigation")).toBeVisible();
  expect(page.url()).not.toContain(code);
  expect(await context.cookies()).toEqual([]);
  expect(await page.evaluate(() => Object.keys(localStorage).map((key) => localStorage[key]).join())).not.toMatch(/[0-9a-f]{32}/);
  const again = await context.newPage();
  await again.goto(address);
  await expect(again.getByRole("navigation")).toHaveCount(0);
  await expect(again.getByText("teamlog dashboard").first()).toBeVisible();
});

test("a second tab and a click with Ctrl keep the session", async ({ page, root, context }) => {
  root.run("init", "demo", "--members", "ada");
  root.run("task", "create", "demo", "--task-id", "1", "--subject", "In both tabs");
  await open(page, root, "/t/demo/board", "--team", "demo");
  const [clicked] = await Promise.all([context.waitForEvent("page"), page.locator('.card[data-id="1"] a.task').click({ modifiers: ["Control"] })]);
  await expect(clicked.getByRole("main")).toContainText("In both tabs");
  const second = await context.newPage();
  await second.goto(page.url());
  await expect(second.locator('.card[data-id="1"]')).toBeVisible();
  for (const tab of [clicked, second]) {
    expect(tab.url()).not.toMatch(/[0-9a-f]{32}/);
    expect(await tab.evaluate(() => Object.keys(localStorage).map((key) => localStorage[key]).join())).not.toMatch(/[0-9a-f]{32}/);
  }
  // Without an open tab there is no session.
  const address = page.url();
  for (const tab of [page, clicked, second]) await tab.close();
  const alone = await context.newPage();
  await alone.goto(address);
  await expect(alone.getByText("teamlog dashboard").first()).toBeVisible();
});

test("a session that only reads records nothing", async ({ page, root }) => {
  root.run("init", "demo", "--members", "ada");
  root.run("task", "create", "demo", "--task-id", "1", "--subject", "Read only");
  await open(page, root, "/t/demo/board", "--team", "demo");
  const refused = await page.evaluate(async () => {
    const session = Object.keys(sessionStorage).map((key) => sessionStorage[key] as string).join(" ");
    const token = /[0-9a-f]{64}/.exec(session)?.[0];
    const answer = await fetch("/v1/tasks", { method: "POST", headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" }, body: '{"title":"no"}' });
    return answer.status;
  });
  expect(refused).toBe(403);
  expect(root.json("tasks", "demo").count).toBe(1);
});

test("a token that is rotated signs the page out", async ({ page, root }) => {
  root.run("init", "demo", "--members", "ada");
  await open(page, root, "/t/demo/board", "--team", "demo");
  root.run("token", "rotate", "demo");
  await expect(page.getByText("Signed out.")).toBeVisible({ timeout: 20_000 });
  await page.getByLabel("Address or code").fill(root.address("--team", "demo"));
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(page.getByText("Signed out.")).toHaveCount(0);
  await expect(page).toHaveURL(/\/board/);
});

test("a team that is damaged while the page is open says so", async ({ page, root }) => {
  root.run("init", "demo", "--members", "ada");
  root.run("task", "create", "demo", "--task-id", "1", "--subject", "Before");
  await open(page, root, "/t/demo/integrity", "--team", "demo");
  await expect(page.getByRole("banner")).not.toContainText(/damaged/i);
  const events = join(root.dir, "teams", "demo", "events");
  const segment = join(events, readdirSync(events)[0]!);
  writeFileSync(segment, readFileSync(segment, "utf8").replace("Before", "Behind"));
  await page.getByRole("button", { name: /^Verify (now|again)/ }).click();
  await expect(page.getByRole("banner")).toContainText(/damaged/i, { timeout: 20_000 });
  appendFileSync(segment, "");
  await go(page, "/t/demo/board");
  await expect(page.getByRole("main")).toBeVisible();
});
