// Copies the command of every "copy as command" button, executes it in a shell, and compares its output with the
// panel, for the present and for a past point.

import { spawnSync } from "node:child_process";
import { dirname } from "node:path";
import type { Page } from "@playwright/test";
import { expect, go, open, test, TEAMLOG, type Root } from "./teamlog";

/** Creates a team with something to show on each panel, twice: the second half happens after the returned point. */
function history(root: Root): string {
  root.run("init", "demo", "--members", "lead,ada,bob");
  root.run("task", "create", "demo", "--task-id", "T-1", "--subject", "Fix the login", "--label", "api", "--trace-id", "tr-1");
  root.run("task", "create", "demo", "--task-id", "T-2", "--subject", "Write the tests", "--parent", "T-1");
  root.run("task", "create", "demo", "--task-id", "T-3", "--subject", "Waits for nothing good", "--blocked-by", "T-4");
  root.run("task", "claim", "demo", "T-2", "--worker", "ada");
  root.run("send", "demo", "--from", "lead", "--to", "ada", "--type", "handoff", "--message-id", "m-1", "--payload-json", '{"note":"it\'s yours, \\"all\\" of it"}');
  root.run("send", "demo", "--from", "ada", "--to", "bob", "--type", "message", "--message-id", "m-2", "--payload-json", '{"body":"hello"}');
  root.run("usage", "demo", "--report", "--agent", "ada", "--input-tokens", "900", "--output-tokens", "100");
  root.run("thread", "start", "demo", "--title", "Who repairs the login?", "--participants", "lead,ada", "--as", "lead");
  root.run("mode", "start", "demo", "forge", "--session", "s-1");
  const point = String(root.json("head", "demo").seq);
  root.run("task", "create", "demo", "--task-id", "T-9", "--subject", "Only now", "--trace-id", "tr-9");
  root.run("send", "demo", "--from", "lead", "--to", "bob", "--type", "handoff", "--message-id", "m-9");
  root.run("task", "create", "demo", "--task-id", "T-8", "--subject", "Waits too", "--blocked-by", "T-7");
  root.run("usage", "demo", "--report", "--agent", "bob", "--input-tokens", "5", "--output-tokens", "5");
  root.run("append", "demo", "--kind", "step_done", "--actor", "bob", "--task-id", "T-9");
  return point;
}

interface Ran {
  command: string;
  output: string;
}

/** Copies the command of the panel with its button, and executes the copied text in a shell. */
async function copied(page: Page, root: Root): Promise<Ran> {
  const button = page.locator(".panel-head").getByRole("button", { name: /^Copy as command/ });
  const titles: string[] = [];
  await expect(async () => {
    titles.push((await button.getAttribute("title")) ?? "");
    await button.click();
    const text = await page.evaluate(() => navigator.clipboard.readText());
    expect(`Copy as command: ${text}`).toBe(titles.at(-1));
  }).toPass();
  const command = (titles.at(-1) ?? "").replace("Copy as command: ", "");
  return { command, output: execute(root, command) };
}

/** Executes a command as a user does: `teamlog` is found in PATH. A command that follows the log is ended. */
function execute(root: Root, command: string): string {
  const follows = / -f( |$)/.test(command);
  const env = { ...process.env, PATH: `${dirname(TEAMLOG)}:/usr/bin:/bin`, TEAMLOG_DATA_ROOT: root.dir, TEAMLOG_ACTOR: "", TZ: "UTC", COLUMNS: "400" };
  const ran = spawnSync("bash", ["-c", command], { cwd: root.dir, env, encoding: "utf8", ...(follows ? { timeout: 2000, killSignal: "SIGINT" } : {}) });
  expect(follows ? 0 : ran.status, `${command}\n${ran.stderr}`).toBe(0);
  return ran.stdout;
}

/** Returns the seqs of the events in the list. */
const seqs = (page: Page) => page.locator(".live [data-seq]").evaluateAll((rows) => rows.map((row) => Number((row as HTMLElement).dataset.seq)));

/** Compares the list of events with the lines of the command. */
async function compareEvents(page: Page, root: Root): Promise<string> {
  await expect(page.locator(".live [data-seq]").first()).toBeVisible();
  await expect(page.getByText("Reading…")).toHaveCount(0);
  const { command, output } = await copied(page, root);
  const printed = output.split("\n").flatMap((line) => /^\s*(\d+)  /.exec(line)?.[1] ?? []).map(Number);
  expect(await seqs(page), command).toEqual([...printed].reverse());
  return command;
}

/** Compares the rows of a panel, which are texts, with the output of the command. `absent` must be in neither. */
async function compare(page: Page, root: Root, rows: string[], absent: string[] = []): Promise<void> {
  const main = page.getByRole("main");
  for (const row of rows) await expect(main).toContainText(row);
  const { command, output } = await copied(page, root);
  for (const row of rows) expect(output, command).toContain(row);
  for (const row of absent) {
    expect(output, command).not.toContain(row);
    await expect(main).not.toContainText(row);
  }
}

test.use({ permissions: ["clipboard-read", "clipboard-write"], viewport: { width: 1280, height: 1600 } });

test("every panel's command shows what the panel shows, now and then", async ({ page, root }) => {
  const point = history(root);
  await open(page, root, "/t/demo/crew", "--team", "demo");
  for (const at of [null, point]) {
    const show = async (place: string) => {
      const mark = place.includes("?") ? "&" : "?";
      await go(page, `/t/demo/${place}${at === null ? "" : `${mark}at=${at}`}`);
      await expect(page.getByText("Reading…")).toHaveCount(0);
    };
    const late = at === null ? [] : ["Only now"];
    const only = (text: string) => (at === null ? [text] : []);

    const filters = [
      "",
      "?kind=task_created,task_claimed",
      "?kind=task_created&not=task:T-1,task:T-3",
      "?not=kind:task_created,actor:ada,type:handoff",
      "?type=handoff",
      "?type=handoff&not=agent:bob",
      "?actor=lead&q=IT%27S%20yours,%20%22all%22",
      "?task=T-2",
      "?trace=tr-1",
      "?agent=ada&not=type:message",
      "?all=true&not=trace:tr-9",
    ];
    for (const filter of filters) {
      await show(`live${filter}`);
      const command = await compareEvents(page, root);
      expect(command.includes(`--at ${point}`), command).toBe(at !== null);
    }
    await show("live?seq=3");
    await compareEvents(page, root);

    await show("crew");
    await compare(page, root, ["ada", "bob", "T-2"]);
    await show("board");
    await compare(page, root, ["T-1", "T-2", "T-3", "Fix the login", ...only("Only now")], late);
    await show("board?owner=ada");
    await compare(page, root, ["T-2"], ["T-3"]);
    await show("board?label=api");
    await compare(page, root, ["T-1"], ["T-3"]);
    await show("board?parent=T-1");
    await compare(page, root, ["T-2"], ["T-3"]);
    await show("attention");
    await compare(page, root, ["T-3", "T-4", ...only("T-7")], at === null ? [] : ["T-7"]);
    await show("attention?kind=unknown_dependency");
    await compare(page, root, ["T-3", "T-4", ...only("T-8")], ["Write the tests"]);
    await show("attention?agent=nobody");
    await copied(page, root);
    await show("inbox");
    await copied(page, root);
    await show("inbox/ada");
    await compare(page, root, ["handoff", "it's yours"]);
    await show("inbox/bob?unread=true");
    await compare(page, root, ["hello"]);
    await show("threads");
    await compare(page, root, ["Who repairs the login?"]);
    await show("threads?q=repairs");
    await compare(page, root, ["Who repairs the login?"]);
    const thread = root.json("thread", "search", "demo").threads[0].id;
    await show(`threads/${thread}`);
    await compare(page, root, ["Who repairs the login?"]);
    await show("task/T-2");
    await compare(page, root, ["Write the tests", "ada", "task_claimed"]);
    await show("trace");
    await compare(page, root, ["tr-1", "Fix the login", "open", ...only("tr-9")], at === null ? [] : ["tr-9"]);
    await show("trace/tr-1");
    await compare(page, root, ["task_created"]);
    await show("usage");
    await compare(page, root, ["ada", ...only("bob")], at === null ? [] : ["bob"]);
    await show("modes/forge");
    await compare(page, root, ["s-1"]);
    await show("modes/bootstrap");
    await expect(page.locator(".empty").getByRole("button", { name: /^Copy as command/ })).toBeVisible();
    await show("integrity");
    await copied(page, root);
  }
});

test("the commands of empty panels run", async ({ page, root }) => {
  root.run("init", "demo");
  await open(page, root, "/t/demo/crew", "--team", "demo", "--act");
  for (const place of ["live?kind=none", "board", "attention", "crew", "inbox", "threads", "trace", "usage", "modes/forge", "task/T-1"]) {
    await go(page, `/t/demo/${place}`);
    await expect(page.getByText("Reading…")).toHaveCount(0);
    await page.waitForTimeout(300);
    for (const button of await page.getByRole("main").getByRole("button", { name: /^Copy as command/ }).all()) {
      if (!(await button.isVisible())) continue;
      const title = (await button.getAttribute("title")) ?? "";
      await button.click();
      const command = await page.evaluate(() => navigator.clipboard.readText());
      expect(title).toBe(`Copy as command: ${command}`);
      // A task that does not exist cannot be shown.
      if (!/task show demo T-1/.test(command)) execute(root, command);
    }
  }
});
