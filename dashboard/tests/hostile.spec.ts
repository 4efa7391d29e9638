// Untrusted input: other origins, other host names of the loopback address, and text that agents wrote.

import { createServer, type Server } from "node:http";
import { mkdirSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, go, open, test } from "./teamlog";

/** Serves a page of another origin. */
async function foreign(html: string): Promise<{ server: Server; url: string }> {
  const server = createServer((_, answer) => {
    answer.setHeader("content-type", "text/html");
    answer.end(html);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` };
}

test("a page of another origin is answered nothing", async ({ page, root, faults }) => {
  root.run("init", "demo", "--members", "ada");
  root.address("--team", "demo");
  const { url, token } = root.runtime("demo");
  const { server, url: theirs } = await foreign("<!doctype html><title>theirs</title>");
  try {
    await page.goto(theirs);
    const outcomes = await page.evaluate(
      async ([url, token]) => {
        const authorization = { Authorization: `Bearer ${token}` };
        const tries: [string, RequestInit][] = [
          ["/", {}],
          ["/healthz", {}],
          ["/v1/status", { headers: authorization }],
          ["/v1/session", { method: "POST", headers: authorization, body: "{}" }],
          ["/v1/tasks", { method: "POST", mode: "no-cors", body: '{"title":"theirs"}' }],
        ];
        const read = async ([path, init]: [string, RequestInit]) => {
          try {
            const answer = await fetch(`${url}${path}`, init);
            return `${path} ${answer.type} ${(await answer.text()).length}`;
          } catch {
            return "nothing";
          }
        };
        return Promise.all(tries.map(read));
      },
      [url, token] as const,
    );
    for (const outcome of outcomes) expect(outcome).toMatch(/^nothing$|opaque 0$/);
    expect(root.json("tasks", "demo").count).toBe(0);
    // The browser reports that it refused the request, as expected.
    faults.length = 0;
  } finally {
    server.close();
  }
});

test("a name that was rebound to the loopback is answered nothing", async ({ playwright, root }) => {
  root.run("init", "demo", "--members", "ada");
  root.address("--team", "demo");
  const { url, token } = root.runtime("demo");
  const { port } = new URL(url);
  const browser = await playwright.chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--host-resolver-rules=MAP evil.example 127.0.0.1"],
  });
  try {
    const page = await browser.newPage();
    const answer = await page.goto(`http://evil.example:${port}/`);
    expect(answer?.status()).toBe(421);
    const read = await page.evaluate(async (token) => {
      const answer = await fetch("/v1/status", { headers: { Authorization: `Bearer ${token}` } });
      return `${answer.status} ${await answer.text()}`;
    }, token);
    expect(read).toMatch(/^421 /);
    expect(read).not.toContain("ada");
  } finally {
    await browser.close();
  }
});

const MARKUP = '<img src=x onerror="window.hurt=1"><script>window.hurt=1</script><b>bold</b>';
const CONTROLS = "a\u202Egnp.exe\u2066b\u0007c\u001b[31md";

test("what agents write is text and nothing else", async ({ page, root }) => {
  root.run("init", "demo", "--members", "lead,ada");
  const text = `${MARKUP} ${CONTROLS}`;
  // Titles must not contain hidden characters.
  root.run("task", "create", "demo", "--task-id", "1", "--subject", MARKUP, "--description", MARKUP);
  root.run("task", "claim", "demo", "1", "--worker", "ada");
  root.run("task-update", "demo", "--from", "ada", "--to", "lead", "--task-id", "1", "--note", text, "--progress", MARKUP, "--eta", MARKUP,
    "--trace-id", "tr-1", "--blocked");
  root.run("send", "demo", "--from", "ada", "--to", "lead", "--type", "handoff", "--trace-id", "tr-1");
  root.run("append", "demo", "--kind", "said", "--actor", "ada", "--trace-id", "tr-1", "--data", JSON.stringify({ text }));
  root.run("thread", "start", "demo", "--title", MARKUP, "--participants", "lead,ada");
  root.run("thread", "post", "demo", "thread-0001", text, "--agent", "ada");
  root.run("usage", "demo", "--report", "--agent", "ada", "--tokens", "5");
  // The attention panel shows a command with this path. The path would end a paste and start a new line.
  const repo = join(root.dir, "repo");
  mkdirSync(repo);
  root.run("config", "set", "demo", "resources.root", repo);
  root.run("task", "create", "demo", "--task-id", "2", "--subject", "Holds", "--resource", "docs");
  root.run("task", "claim", "demo", "2", "--worker", "lead");
  const path = join(repo, "docs", "a\u0003\u001b[201~\u202egnp.\ntouch PWNED\n#");
  const tool = { tool_name: "Write", tool_input: { file_path: path } };
  expect(root.try(["guard", "demo", "--agent", "ada"], JSON.stringify(tool))).toBe(2);
  await open(page, root, "", "--team", "demo");
  for (const place of ["crew", "board", "attention", "live", "trace", "trace/tr-1", "threads", "threads/thread-0001", "task/1", "modes", "integrity", "usage"]) {
    await go(page, `/t/demo/${place}`);
    await expect(page.getByRole("main")).not.toBeEmpty();
    await page.waitForTimeout(300);
    const seen = await page.evaluate(() => ({
      hurt: "hurt" in window,
      elements: document.querySelectorAll("main img, main script").length + [...document.querySelectorAll("main b")].filter((node) => node.textContent === "bold").length,
      raw: /[\u0007\u001b\u202e\u2066]/.test(document.querySelector("main")?.textContent ?? ""),
    }));
    expect(seen, place).toEqual({ hurt: false, elements: 0, raw: false });
  }
  await go(page, "/t/demo/attention");
  await expect(page.locator(".command code", { hasText: "can-write" })).toContainText(String.raw`\x03\x1b[201~\u202egnp.\x0atouch`);
});

test("a subject of a megabyte is cut, and the page goes on", async ({ page, root }) => {
  root.run("init", "demo", "--members", "lead,ada");
  const input = JSON.stringify({ team_name: "demo", subject: "long", description: "x".repeat(900_000) });
  root.feed(input, "api", "create-task", "--input", "-", "--json");
  await open(page, root, "/t/demo/board", "--team", "demo");
  await expect(page.locator('.card[data-id="1"]')).toBeVisible();
  await go(page, "/t/demo/live");
  await expect(page.locator("[data-seq]").first()).toBeVisible();
  const longest = await page.evaluate(() =>
    Math.max(...[...document.querySelectorAll("main *")].map((node) => node.childNodes.length === 1 ? (node.textContent ?? "").length : 0)));
  expect(longest).toBeLessThan(20_000);
});
