// Fixtures of the browser tests: a separate data root, the teamlog program, and a signed-in page.

import { expect, test as base, type BrowserContext, type Page } from "@playwright/test";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

/** Path of the program under test. `.ci/browser` sets it. */
export const TEAMLOG = resolve(process.env.TEAMLOG ?? "../target/debug/teamlog");

/** A new data root and its daemon. */
export class Root {
  readonly dir = mkdtempSync(join(tmpdir(), "teamlog-page-"));

  /** Runs a command that must succeed. Returns its output. */
  run(...args: string[]): string {
    return execFileSync(TEAMLOG, args, this.#options());
  }

  /** Runs a command with `input` on standard input. Returns its output. */
  feed(input: string, ...args: string[]): string {
    return execFileSync(TEAMLOG, args, { ...this.#options(), input, maxBuffer: 1 << 28 });
  }

  /** Runs a command and parses its output as JSON. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  json(...args: string[]): any {
    return JSON.parse(this.run("--json", ...args));
  }

  /** Runs a command that may fail. Returns its exit code. */
  try(args: string[], input = ""): number | null {
    return spawnSync(TEAMLOG, args, { ...this.#options(), input }).status;
  }

  /** Returns an address with a one-time code. Starts the daemon if none runs. */
  address(...args: string[]): string {
    return this.json("dashboard", "--print", ...args).url;
  }

  /** Returns address and token of the team, and the process id of the daemon. */
  runtime(team: string): { url: string; token: string; pid: number } {
    return JSON.parse(readFileSync(join(this.dir, "teams", team, "runtime.json"), "utf8"));
  }

  /** Kills the daemon with SIGKILL. */
  kill(team: string): void {
    const { pid } = this.runtime(team);
    process.kill(pid, "SIGKILL");
    while (isAlive(pid)) spawnSync("sleep", ["0.02"]);
  }

  remove(): void {
    this.try(["serve", "--stop"]);
    rmSync(this.dir, { recursive: true, force: true, maxRetries: 5 });
  }

  #options() {
    const env = { ...process.env, TEAMLOG_DATA_ROOT: this.dir, TZ: "UTC" };
    return { cwd: this.dir, encoding: "utf8" as const, env };
  }
}

/** Returns true if the process runs. A process that has ended but was not waited for counts as ended. */
function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

/** Opens the page with a session at a route such as `/board`. */
export async function open(page: Page, root: Root, place = "", ...args: string[]): Promise<void> {
  const address = root.address(...args);
  await page.goto(address);
  await expect(page.getByRole("button", { name: /^Find/ })).toBeVisible();
  if (place) await go(page, place);
}

/** Changes the route of the page, like a link. */
export async function go(page: Page, place: string): Promise<void> {
  await page.evaluate((to) => (location.hash = to), place.startsWith("#") ? place : `#${place}`);
}

/** Directory of a built page that replaces the page in the program, so that the program need not be built again. */
const PAGE = process.env.TEAMLOG_PAGE;

/** Makes the browser load the page from `PAGE`. */
async function replacePage(context: BrowserContext): Promise<void> {
  if (PAGE === undefined) return;
  const headers = { "Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": readFileSync(join(PAGE, "policy.txt"), "utf8").trim() };
  await context.route((url) => url.pathname === "/", (route) => route.fulfill({ path: join(PAGE, "index.html"), headers }));
}

interface Fixtures {
  root: Root;
  /** Requests to other origins, and errors of the page. The list must stay empty. */
  faults: string[];
}

export const test = base.extend<Fixtures>({
  // biome-ignore lint: the runner wants the pattern
  root: async ({}, use) => {
    const root = new Root();
    await use(root);
    root.remove();
  },
  context: async ({ context }, use) => {
    await replacePage(context);
    await use(context);
  },
  faults: [
    async ({ page }, use) => {
      const faults: string[] = [];
      page.on("pageerror", (error) => faults.push(`error: ${error.message}`));
      page.on("console", (message) => {
        // The browser logs every failed response. The page reports these errors itself.
        if (message.type() === "error" && !/Failed to load resource/.test(message.text())) {
          faults.push(`console: ${message.text()}`);
        }
      });
      // The daemon must understand every request of the page.
      page.on("response", (answer) => {
        if (answer.status() === 400) void answer.text().then((text) => faults.push(`${answer.url()}: ${text}`), () => {});
      });
      page.on("request", (request) => {
        const url = new URL(request.url());
        if (url.protocol !== "data:" && url.hostname !== "127.0.0.1") faults.push(`request: ${url}`);
      });
      await use(faults);
      expect(faults).toEqual([]);
    },
    { auto: true },
  ],
});

export { expect };
