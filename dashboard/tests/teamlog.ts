// What the browser tests stand on: a data root of their own, the program itself, and a page that is signed in.

import { expect, test as base, type Page } from "@playwright/test";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

/** The program under test; `.ci/browser` names it. */
export const TEAMLOG = resolve(process.env.TEAMLOG ?? "../target/debug/teamlog");

/** A fresh data root, and whatever daemon serves it. */
export class Root {
  readonly dir = mkdtempSync(join(tmpdir(), "teamlog-page-"));

  /** Runs a command that must succeed, and gives what it printed. */
  run(...args: string[]): string {
    return execFileSync(TEAMLOG, args, this.#options());
  }

  /** The same with something on standard input. */
  feed(input: string, ...args: string[]): string {
    return execFileSync(TEAMLOG, args, { ...this.#options(), input, maxBuffer: 1 << 28 });
  }

  /** The same as JSON. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  json(...args: string[]): any {
    return JSON.parse(this.run("--json", ...args));
  }

  /** Runs a command that may refuse, and gives its exit code. */
  try(args: string[], input = ""): number | null {
    return spawnSync(TEAMLOG, args, { ...this.#options(), input }).status;
  }

  /** An address with a one-time code; the daemon is started where none runs. */
  address(...args: string[]): string {
    return this.json("dashboard", "--print", ...args).url;
  }

  /** What a client of the team needs to know. */
  runtime(team: string): { url: string; token: string; pid: number } {
    return JSON.parse(readFileSync(join(this.dir, "teams", team, "runtime.json"), "utf8"));
  }

  /** Ends the daemon as a crash would. */
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

/** Whether the process still runs; one that ended and was not waited for does not. */
function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

/** Opens the page signed in, at a place such as `/board`. */
export async function open(page: Page, root: Root, place = "", ...args: string[]): Promise<void> {
  const address = root.address(...args);
  await page.goto(address);
  await expect(page.getByRole("button", { name: /^Find/ })).toBeVisible();
  if (place) await go(page, place);
}

/** Follows a place of the page, as a link would. */
export async function go(page: Page, place: string): Promise<void> {
  await page.evaluate((to) => (location.hash = to), place.startsWith("#") ? place : `#${place}`);
}

interface Fixtures {
  root: Root;
  /** Requests that left the origin, and errors that the page made: there must be none. */
  faults: string[];
}

export const test = base.extend<Fixtures>({
  // biome-ignore lint: the runner wants the pattern
  root: async ({}, use) => {
    const root = new Root();
    await use(root);
    root.remove();
  },
  faults: [
    async ({ page }, use) => {
      const faults: string[] = [];
      page.on("pageerror", (error) => faults.push(`error: ${error.message}`));
      page.on("console", (message) => {
        // The browser itself logs each answer that is no success; the page says those in its own words.
        if (message.type() === "error" && !/Failed to load resource/.test(message.text())) {
          faults.push(`console: ${message.text()}`);
        }
      });
      // Whatever a page asks is what the daemon understands.
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
