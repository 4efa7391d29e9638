// Actions of a session that may record. Each action of the menu records an event equal to the event of the shown command.

import { execFileSync } from "node:child_process";
import { dirname } from "node:path";
import { expect, go, open, TEAMLOG, test, type Root } from "./teamlog";

interface Verb {
  /** Text in the menu and on the dialog's button. */
  menu: string;
  verb: string;
  /** Brings a task into a state in which the action is offered. */
  before: (root: Root, id: string) => void;
  /** A field to fill in, in addition to the acting agent. */
  text?: [label: string, value: string];
  kind: string;
}

const claimed = (root: Root, id: string): void => {
  root.run("task", "claim", "demo", id, "--worker", "ada");
};
const failed = (root: Root, id: string): void => {
  claimed(root, id);
  root.run("task", "fail", "demo", id, "--worker", "ada", "--epoch", "1");
};

const VERBS: Verb[] = [
  { menu: "Claim for an agent…", verb: "Claim", before: () => {}, kind: "task_claimed" },
  { menu: "Complete…", verb: "Complete", before: claimed, text: ["Result", "it's done"], kind: "task_completed" },
  { menu: "Give up as failed…", verb: "Fail", before: claimed, text: ["Why", "no way"], kind: "task_failed" },
  { menu: "Give back…", verb: "Release", before: claimed, kind: "task_released" },
  { menu: "Cancel the task…", verb: "Cancel the task", before: claimed, text: ["Why", "not needed"], kind: "task_canceled" },
  { menu: "Reopen…", verb: "Reopen", before: failed, kind: "task_reopened" },
];

/** Returns the payload of the last event of a kind about a task, without values that differ in every run, and without the session of
 * a claim, because only a claim by a command has a session, the session of its terminal. */
const recorded = (root: Root, kind: string, id: string): unknown => {
  const lines = root.run("replay", "demo", "--kind", kind, "--json").trim().split("\n");
  const events = lines.map((line) => JSON.parse(line)).filter((event) => event.task_id === id);
  const { actor, agent, payload } = events.at(-1);
  const { task_id: _, token: __, session: ___, leased_until, ...rest } = payload;
  const lasts = leased_until === undefined ? null : Math.round((Date.parse(leased_until) - Date.parse(events.at(-1).created_at)) / 1000);
  return { actor, agent, rest, lasts };
};

for (const [at, { menu, verb, before, text, kind }] of VERBS.entries()) {
  test(`${verb}: the page records what the command does`, async ({ page, root }) => {
    root.run("init", "demo", "--members", "lead,ada,bob");
    for (const id of ["P-1", "C-1"]) {
      root.run("task", "create", "demo", "--task-id", id, "--subject", `Work ${at}`);
      before(root, id);
    }
    await open(page, root, "/t/demo/board?lanes=off", "--act");
    await page.locator('.card[data-id="P-1"]').getByRole("button", { name: "Actions" }).click();
    await page.getByRole("menuitem", { name: menu }).click();
    const dialog = page.getByRole("dialog");
    const button = dialog.getByRole("button", { name: verb, exact: true });
    const who = dialog.getByLabel(verb === "Claim" ? "Agent" : "Recorded under", { exact: true });
    await who.fill("");
    await expect(button).toBeDisabled();
    await who.fill("bob");
    if (text !== undefined) await dialog.getByLabel(text[0]).fill(text[1]);
    const command = (await dialog.locator(".command code").textContent()) ?? "";
    await button.click();
    await expect(dialog).toHaveCount(0);
    const env = { ...process.env, TEAMLOG_DATA_ROOT: root.dir, PATH: `${dirname(TEAMLOG)}:${process.env.PATH}` };
    execFileSync("bash", ["-c", command.replace("P-1", "C-1")], { env });
    expect(recorded(root, kind, "P-1")).toEqual(recorded(root, kind, "C-1"));
    expect(recorded(root, kind, "P-1")).toMatchObject({ actor: "bob" });
  });
}

test("what was canceled is not offered to be reopened", async ({ page, root }) => {
  root.run("init", "demo", "--members", "lead,ada");
  root.run("task", "create", "demo", "--task-id", "1", "--subject", "Gone");
  root.run("task", "cancel", "demo", "1");
  await open(page, root, "/t/demo/board?lanes=off", "--act");
  await page.locator('.card[data-id="1"]').getByRole("button", { name: "Actions" }).click();
  await expect(page.getByRole("menuitem", { name: "Open", exact: true })).toBeVisible();
  await expect(page.getByRole("menuitem", { name: "Reopen" })).toHaveCount(0);
});

test("a mailbox, and what is found by a few letters", async ({ page, root }) => {
  root.run("init", "demo", "--members", "lead,ada");
  root.run("task", "create", "demo", "--task-id", "T-7", "--subject", "Paint the shed");
  root.run("send", "demo", "--from", "lead", "--to", "ada", "--type", "handoff", "--message-id", "m-1", "--payload-json", '{"body":"the brush is wet"}');
  await open(page, root, "/t/demo/inbox/ada", "--team", "demo");
  await expect(page.locator('[data-message="m-1"]')).toContainText("the brush is wet");
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox").fill("shed");
  await expect(page.getByRole("option", { name: /T-7/ })).toBeVisible();
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\/task\/T-7/);
});

test("a session of one team shows no other team's data under its name", async ({ page, root }) => {
  for (const team of ["demo", "other"]) root.run("init", team, "--members", "lead");
  root.run("task", "create", "demo", "--task-id", "D-1", "--subject", "Of demo");
  await open(page, root, "/t/demo/board", "--team", "demo");
  await expect(page.locator('.card[data-id="D-1"]')).toBeVisible();
  await go(page, "/t/other/board");
  await expect(page.getByRole("alert").first()).toBeVisible();
  await expect(page.locator(".card")).toHaveCount(0);
});
