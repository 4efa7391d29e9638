// Main uses of the page: finding the work of each agent, stuck tasks and past events, and checking if the log can be
// trusted.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { axe } from "./axe";
import type { Page } from "@playwright/test";
import { expect, go, open, test, type Root } from "./teamlog";

/** Creates a team with four agents. Three of them hold a task. */
function crew(root: Root, lease = "600000"): void {
  root.run("init", "demo", "--members", "lead,ada,bob,cyd,dan");
  for (const [id, agent] of [["T-1", "ada"], ["T-2", "bob"], ["T-3", "cyd"]] as const) {
    root.run("task", "create", "demo", "--task-id", id, "--subject", `Work of ${agent}`);
    root.run("task", "claim", "demo", id, "--worker", agent, "--lease-ms", lease);
  }
}

test("1: who does what", async ({ page, root }) => {
  crew(root);
  await open(page, root, "/t/demo/crew");
  const ada = page.locator('tr[data-key="ada"]');
  await expect(ada).toContainText("T-1");
  await expect(ada.locator('[data-title="Last event"] time')).toBeVisible();
  const lease = ada.locator(".countdown");
  const before = await lease.textContent();
  await expect(lease).not.toHaveText(before ?? "");
  await expect(page.locator('tr[data-key="dan"]')).not.toContainText("T-");
});

test("2: a dead agent", async ({ page, root }) => {
  crew(root);
  root.run("task", "create", "demo", "--task-id", "T-9", "--subject", "Short");
  await open(page, root, "/t/demo/board?lanes=off");
  root.run("task", "claim", "demo", "T-9", "--worker", "lead", "--lease-ms", "5000");
  const card = page.locator('.card[data-id="T-9"]');
  await expect(card).toContainText("lead");
  await expect(card).toContainText("lease expired", { timeout: 20_000 });
  await go(page, "/t/demo/crew");
  await expect(page.locator('tr[data-key="lead"]')).toContainText("lease expired");
  await go(page, "/t/demo/board?lanes=off");
  root.run("task", "claim", "demo", "T-9", "--worker", "dan");
  await expect(card).toContainText("dan");
  await expect(card).toContainText("epoch 2");
});

test("3: stuck at a glance", async ({ page, root }) => {
  root.run("init", "demo", "--members", "lead,ada");
  for (const id of ["1", "2"]) root.run("task", "create", "demo", "--task-id", id, "--subject", `Task ${id}`);
  root.run("task", "create", "demo", "--task-id", "3", "--subject", "Waits", "--blocked-by", "2");
  root.run("task", "cancel", "demo", "2", "--force", "--worker", "lead");
  await open(page, root, "/t/demo/attention");
  const entry = page.locator(".concern", { hasText: "stuck" });
  await expect(entry).toHaveCount(1);
  await expect(entry).toContainText("stuck: 3 waits for 2");
  await entry.getByRole("link", { name: "stuck: 3 waits for 2" }).click();
  await expect(page).toHaveURL(/\/task\/3/);
  await expect(page.locator('[data-node="2"]')).toContainText("canceled");
  await go(page, "/t/demo/attention");
  root.run("api", "update-task", "--input", '{"team_name":"demo","task_id":"3","blocked_by":["1"]}', "--json");
  await expect(entry).toHaveCount(0);
});

test("4: blocked is said", async ({ page, root }) => {
  crew(root);
  await open(page, root, "/t/demo/board");
  const card = page.locator('.card[data-id="T-1"]');
  await expect(card).toBeVisible();
  root.run("task-update", "demo", "--from", "ada", "--to", "lead", "--task-id", "T-1", "--status", "blocked",
    "--blocked", "--note", "needs key");
  await expect(card).toContainText("needs key");
  await expect(card).toContainText("blocked");
});

/** Returns all seqs of the list, from its top to its end. */
async function listed(page: Page): Promise<number[]> {
  return page.evaluate(async () => {
    const list = document.querySelector<HTMLElement>(".live .virtual")!;
    const seen: number[] = [];
    for (list.scrollTop = 0; ; list.scrollTop += 200) {
      await new Promise((frame) => requestAnimationFrame(() => setTimeout(frame, 30)));
      for (const row of list.querySelectorAll<HTMLElement>("[data-seq]")) {
        const seq = Number(row.dataset.seq);
        if (!seen.includes(seq)) seen.push(seq);
      }
      if (list.scrollTop + list.clientHeight >= list.scrollHeight - 1) return seen;
    }
  });
}

/** Returns the seqs from `from` down to `to`. */
const down = (from: number, to: number) => Array.from({ length: from - to + 1 }, (_, n) => from - n);

test("5: live tail", async ({ page, root }) => {
  root.run("init", "demo", "--members", "lead,ada");
  root.run("append", "demo", "--kind", "step_done", "--actor", "ada");
  await open(page, root, "/t/demo/live", "--team", "demo");
  const top = page.locator("[data-seq]").first();
  const first = root.json("head", "demo").seq;
  await expect(top).toHaveAttribute("data-seq", String(first));
  await page.getByRole("button", { name: "Pause" }).click();
  const facts = Array.from({ length: 200 }, (_, n) => JSON.stringify({ kind: "step_done", actor: "ada", payload: { n } })).join("\n");
  root.feed(facts, "append", "demo", "--batch", "-");
  const news = page.getByRole("button", { name: "200 new" });
  await expect(news).toBeVisible();
  await expect(top).toHaveAttribute("data-seq", String(first));
  await news.click();
  await expect(top).toHaveAttribute("data-seq", String(first + 200));
  expect(await listed(page)).toEqual(down(first + 200, 1));

  // Kill the daemon and start it again while the page waits. No event may be missing or shown twice.
  await page.evaluate(() => document.querySelector(".live .virtual")!.scrollTo({ top: 0 }));
  root.kill("demo");
  root.feed(facts, "append", "demo", "--batch", "-");
  const address = root.address("--team", "demo");
  await expect(page.getByText("Signed out.")).toBeVisible({ timeout: 15_000 });
  await page.getByLabel("Address or code").fill(address);
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(top).toHaveAttribute("data-seq", String(first + 400), { timeout: 15_000 });
  expect(await listed(page)).toEqual(down(first + 400, 1));
});

test("6: filter by click", async ({ page, root }) => {
  crew(root);
  await open(page, root, "/t/demo/live");
  const actors = () => page.locator("[data-seq] .chip[title^='Only actor']").allTextContents().then((all) => [...new Set(all)]);
  await page.locator("[data-seq] .chip[title^='Only actor']", { hasText: "cyd" }).first().click();
  await expect(page).toHaveURL(/actor=cyd/);
  await expect.poll(actors).toEqual(["cyd"]);
  await page.reload();
  await expect.poll(actors).toEqual(["cyd"]);
  await page.goBack();
  await expect(page).not.toHaveURL(/actor=cyd/);
  await expect.poll(async () => (await actors()).length).toBeGreaterThan(1);
});

/** Creates the history of `teamlog demo`. Nine of its events belong to the trace tr-login. */
function login(root: Root): void {
  const story = join(root.dir, "story");
  root.run("demo", "--dir", story);
  root.feed(root.run("--data-root", story, "export", "demo"), "import", "demo", "--events", "-");
}

test("7: a trace", async ({ page, root }) => {
  login(root);
  const trace = root.json("trace", "demo", "--trace-id", "tr-login");
  await open(page, root, "/t/demo/trace/tr-login");
  const rows = page.locator("[data-seq]");
  await expect(rows).toHaveCount(9);

  const bar = page.locator('[data-span^="task:T-1:"]');
  const [scale, drawn] = [await page.locator(".wf-chart").first().boundingBox(), await bar.boundingBox()];
  const at = (time: string) => Date.parse(time);
  const micros = (event: { created_at: string }) => at(event.created_at.slice(0, 23) + "Z") * 1000 + Number(event.created_at.slice(23, 26) || 0);
  const events: { seq: number; created_at: string }[] = trace.events;
  const span = trace.spans.find((span: { id: string }) => span.id === "T-1");
  expect([span.first_seq, span.last_seq]).toEqual([2, 6]);
  const of = (seq: number) => micros(events.find((event) => event.seq === seq)!);
  const [first, last] = [micros(events[0]!), micros(events.at(-1)!)];
  const x = (time: number) => scale!.x + ((time - first) / (last - first)) * scale!.width;
  expect(Math.abs(drawn!.x - x(of(span.first_seq)))).toBeLessThanOrEqual(1);
  expect(Math.abs(drawn!.x + drawn!.width - x(of(span.last_seq)))).toBeLessThanOrEqual(1);

  const stale = events.find((event) => (event as { superseded?: boolean }).superseded)!;
  const row = page.locator(`[data-seq="${stale.seq}"]`);
  await expect(row).toContainText("changed nothing");
  await expect(row).toHaveClass(/wf-struck/);
  await expect(row.locator(".wf-label")).toHaveCSS("text-decoration-line", "line-through");

  await page.getByRole("button", { name: /collapse all/i }).click();
  await expect(rows).toHaveCount(7);
  await go(page, "/t/demo/trace/tr-login?event=8");
  const linked = page.locator('[data-seq="8"]');
  await expect(linked).toBeInViewport();
  await expect(linked).toBeFocused();
});

test("8: as of", async ({ page, root }) => {
  crew(root);
  await open(page, root, "/t/demo/board?at=5", "--act");
  const then = root.json("status", "demo", "--at", "5");
  await expect(page.getByText(/as of/i).first()).toBeVisible();
  const claimed = then.tasks_by_status.in_progress;
  expect(claimed).toBeGreaterThan(0);
  await expect(page.locator('[data-status="in_progress"] .card')).toHaveCount(claimed);
  await expect(page.locator(".card[draggable=true]")).toHaveCount(0);
  await page.keyboard.press("End");
  await expect(page).not.toHaveURL(/at=/);
  await expect(page.locator('[data-status="in_progress"] .card')).toHaveCount(3);
});

test("9: prove", async ({ page, root }) => {
  crew(root);
  root.run("keygen", "--out", join(root.dir, "auditor"));
  const key = readdirSync(root.dir).find((file) => file.startsWith("auditor") && !file.endsWith(".pub"))!;
  const receipt = root.run("--json", "head", "demo", "--sign", join(root.dir, key));
  await open(page, root, "/t/demo/integrity");
  const drop = async () => {
    await page.locator("input[type=file]").setInputFiles({ name: "receipt.json", mimeType: "application/json", buffer: Buffer.from(receipt) });
  };
  await drop();
  const verdict = page.locator(".receipt-answer");
  await expect(verdict).toContainText("holds");
  await expect(verdict).toContainText(/signed by/i);

  const events = join(root.dir, "teams", "demo", "events");
  const segment = join(events, readdirSync(events)[0]!);
  writeFileSync(segment, readFileSync(segment, "utf8").replace("Work of ada", "Work of bob"));
  await drop();
  await expect(verdict).toContainText(/changed since/i);
  await expect(verdict).toContainText(readdirSync(events)[0]!);
  await page.getByRole("button", { name: /^Verify (now|again)/ }).click();
  await expect(page.getByRole("banner")).toContainText(/damaged/i, { timeout: 20_000 });
});

test("10: an operator", async ({ page, root }) => {
  crew(root);
  root.run("init", "hurt", "--members", "ann,ben");
  root.run("send", "hurt", "--from", "ann", "--to", "ben", "--type", "handoff");
  root.run("send", "demo", "--from", "lead", "--to", "dan", "--type", "decision_required", "--require-ack", "--ack-timeout-seconds", "1", "--max-retries", "0");
  await expect.poll(() => {
    root.run("tick", "demo");
    return root.json("dead-letter", "list", "demo").count;
  }, { timeout: 30_000 }).toBe(1);
  const events = join(root.dir, "teams", "hurt", "events");
  const segment = join(events, readdirSync(events)[0]!);
  writeFileSync(segment, readFileSync(segment, "utf8").replace("ben", "bem"));

  await open(page, root, "", "--act");
  await go(page, "/teams");
  await expect(page.locator("tr[data-key]").first()).toHaveAttribute("data-key", "hurt", { timeout: 15_000 });
  await expect(page.locator('tr[data-key="hurt"]')).toContainText("damaged");
  await expect(page.locator('tr[data-key="hurt"]')).toContainText("teamlog doctor check hurt");
  await go(page, "/t/demo/attention");
  const letter = page.locator(".concern", { hasText: "dead letter" });
  await expect(letter).toHaveCount(1);
  await letter.getByRole("button", { name: "Requeue…" }).focus();
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog");
  await expect(dialog).toContainText("teamlog dead-letter requeue demo");
  await page.keyboard.press("Enter");
  await expect(letter).toHaveCount(0);
  expect(await axe(page)).toEqual([]);
});

test("10: without a session there is the sign-in, and no data", async ({ page, root }) => {
  crew(root);
  const address = root.address("--team", "demo");
  const html = await (await fetch(address.replace(/#.*/, ""))).text();
  expect(html).not.toContain("Work of ada");
  await page.goto(address.replace(/#.*/, ""));
  await expect(page.getByText("teamlog dashboard").first()).toBeVisible();
  await expect(page.getByRole("navigation")).toHaveCount(0);
  expect(await axe(page)).toEqual([]);
});

test("11: a mode that a session has active", async ({ page, root }) => {
  root.run("init", "demo", "--members", "lead,ada");
  root.run("mode", "start", "demo", "forge", "--session", "s-1");
  await open(page, root, "/t/demo/modes/forge");
  const main = page.getByRole("main");
  await expect(main.getByRole("row", { name: /session s-1/ })).toContainText("● active");
  await expect(main).not.toContainText("never started");
  await expect(main.locator(".summary")).toContainText("Active: forge session s-1");
  const copied = (await main.getByRole("button", { name: /^Copy as command: teamlog mode list/ }).getAttribute("title")) ?? "";
  const argv = copied.replace("Copy as command: teamlog ", "").split(" ");
  expect(root.run(...argv)).toContain("in session s-1");
  expect(await axe(page)).toEqual([]);
});

test("12: each health of the doctor has its sign and its colour", async ({ page, root }) => {
  crew(root);
  await open(page, root, "/t/demo/integrity");
  await page.getByRole("button", { name: /^Look (now|again)/ }).click();
  const checks = page.locator(".checks li");
  const lock = checks.filter({ has: page.locator("code", { hasText: /^lock$/ }) });
  await expect(lock).toContainText("✓ healthy");
  await expect(lock).toContainText("held by the daemon that serves the team");
  await expect(checks.locator(".sign-idle")).toHaveCount(0);
  const colour = await lock.locator(".sign-good").evaluate((sign) => getComputedStyle(sign).color);
  const plain = await lock.evaluate((line) => getComputedStyle(line).color);
  expect(colour).not.toBe(plain);
});

test("13: a rejected task says so", async ({ page, root }) => {
  crew(root);
  const decision = { team_name: "demo", task_id: "T-1", status: "rejected", reviewer: "lead", decision_reason: "no tests" };
  await open(page, root, "/t/demo/board");
  root.run("api", "write-task-approval", "--input", JSON.stringify(decision));
  await expect(page.locator('.card[data-id="T-1"]')).toContainText("rejected");
  await go(page, "/t/demo/task/T-1");
  await expect(page.getByRole("main")).toContainText(/✕ rejected by lead.*: no tests/);
  await go(page, "/t/demo/attention");
  await expect(page.locator(".concern", { hasText: "T-1 was rejected by lead: no tests" })).toHaveCount(1);
});

/** Returns how far the page is wider than its window. */
const excess = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);

test("14: the inbox of a large team is searched, and as wide as the window", async ({ page, root }) => {
  const agents = Array.from({ length: 160 }, (_, n) => `agent-${n + 100}`);
  root.run("init", "demo", "--members", agents.join(","));
  root.run("send", "demo", "--from", "agent-100", "--to", "agent-255", "--type", "handoff");
  await open(page, root, "/t/demo/inbox");
  const names = page.getByRole("group", { name: "Agent" }).getByRole("button");
  await expect(names.first()).toContainText("agent-255");
  await expect(page.getByRole("main")).toContainText("136 more");
  expect(await excess(page)).toBeLessThanOrEqual(0);
  await page.getByLabel("Search agents").fill("-201");
  await expect(names).toHaveText(["agent-201"]);
  await names.click();
  await expect(page.getByRole("main")).toContainText("agent-201 has no messages");
});

test("15: events on a phone: nothing is printed over, and every line is a sentence", async ({ page, root }) => {
  crew(root);
  root.run("send", "demo", "--from", "lead", "--to", "dan", "--type", "decision_required", "--payload-json", '{"question":"which database?","options":["postgres","sqlite"]}');
  root.run("append", "demo", "--kind", "deploy_finished_with_a_long_name", "--actor", "ada", "--task-id", "T-1", "--data", '{"hosts":["a","b"],"took":{"ms":12}}');
  await page.setViewportSize({ width: 390, height: 800 });
  await open(page, root, "/t/demo/live");
  await expect(page.locator("[data-seq]").first()).toBeVisible();
  expect(await excess(page)).toBeLessThanOrEqual(0);
  const over = await page.evaluate(() =>
    [...document.querySelectorAll(".event-line")].flatMap((line) => {
      const boxes = [...line.children].map((part) => part.getBoundingClientRect()).filter((box) => box.width > 0);
      return boxes.flatMap((a, index) => boxes.slice(index + 1).filter((b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1).map(() => line.textContent));
    }),
  );
  expect(over).toEqual([]);
  for (const says of await page.locator(".log-event .says").allTextContents()) expect(says).not.toMatch(/[{}[\]]/);
  await expect(page.locator("[data-seq] .chip", { hasText: "decision_required" })).toBeVisible();
  await page.getByLabel("Type of message").selectOption("decision_required");
  await expect(page.locator("[data-seq]")).toHaveCount(1);
});

test("16: a damaged team says so on every panel, with the command that repairs it", async ({ page, root }) => {
  crew(root);
  await open(page, root, "/t/demo/integrity");
  const events = join(root.dir, "teams", "demo", "events");
  const segment = join(events, readdirSync(events)[0]!);
  writeFileSync(segment, readFileSync(segment, "utf8").replace("Work of ada", "Work of bob"));
  await page.getByRole("button", { name: /^Verify (now|again)/ }).click();
  for (const panel of ["crew", "board", "live", "attention", "inbox", "threads", "task", "trace", "modes", "usage", "integrity"]) {
    await go(page, `/t/demo/${panel}`);
    const alert = page.getByRole("alert").filter({ hasText: "damaged" }).first();
    await expect(alert).toContainText("teamlog doctor check demo", { timeout: 20_000 });
    await expect(alert).toContainText("teamlog rehydrate demo --salvage");
  }
  expect(root.run("rehydrate", "demo", "--salvage")).toContain("demo");
});

test("17: trouble first, and a lapsed claim keeps its task", async ({ page, root }) => {
  crew(root);
  root.run("task", "create", "demo", "--task-id", "T-9", "--subject", "Left behind");
  root.run("task", "claim", "demo", "T-9", "--worker", "dan", "--lease-ms", "5000");
  await open(page, root, "/t/demo/crew");
  const first = page.locator("tr[data-key]").first();
  await expect(first).toHaveAttribute("data-key", "dan", { timeout: 30_000 });
  await expect(first).toContainText("lease expired");
  await expect(first).toContainText("T-9");
  await go(page, "/t/demo/board");
  await expect(page.locator('[aria-label="Lane of dan"]')).toContainText("T-9");
  await expect(page.locator(".lane").first()).toContainText("T-9");
});

test("18: labels, times, parts and reviews are seen and filter the board", async ({ page, root }) => {
  root.run("init", "demo", "--members", "lead,ada");
  root.run("task", "create", "demo", "--task-id", "1", "--subject", "Ship", "--label", "ui");
  root.run("task", "create", "demo", "--task-id", "2", "--subject", "Part", "--parent", "1", "--label", "api", "--due", "2020-01-02");
  root.run("task", "create", "demo", "--task-id", "3", "--subject", "Judged", "--requires-approval", "--defer", "2020-01-01");
  root.run("task", "claim", "demo", "3", "--worker", "ada");
  await open(page, root, "/t/demo/board?lanes=off");
  const card = (id: string) => page.locator(`.card[data-id="${id}"]`);
  await expect(card("1")).toContainText("0 of 1 parts");
  await expect(card("2")).toContainText("part of 1");
  await expect(card("2").locator(".badge.warn")).toContainText("due 2020-01-02");
  await expect(card("3")).toContainText("review");
  const shown = () => page.locator(".card").evaluateAll((cards) => cards.map((one) => (one as HTMLElement).dataset.id).sort());
  await page.getByLabel("Only tasks of this label").selectOption("api");
  await expect.poll(shown).toEqual(["2"]);
  await go(page, "/t/demo/board?lanes=off");
  await page.getByLabel("Only tasks of this parent").selectOption("1");
  await expect.poll(shown).toEqual(["2"]);
  await go(page, "/t/demo/board?lanes=off");
  await page.getByRole("button", { name: "1 in review" }).click();
  await expect.poll(shown).toEqual(["3"]);
});

test("comments on a task", async ({ page, root }) => {
  crew(root);
  root.run("comment", "demo", "T-1", "the schema has changed", "--as", "bob");
  await open(page, root, "/t/demo/task/T-1");
  const comment = page.locator(".post", { hasText: "the schema has changed" });
  await expect(comment).toContainText("bob");
  root.run("comment", "demo", "T-1", "thanks", "--as", "ada");
  await expect(page.locator(".post", { hasText: "thanks" })).toContainText("ada");
});
