// A daemon of a new data root, for tests. The program is $TEAMLOG.

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const TEAM = "demo";

export class Daemon {
  readonly root = mkdtempSync(join(tmpdir(), "teamlog-client-"));
  readonly #program = process.env["TEAMLOG"] ?? "teamlog";
  readonly #env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("TEAMLOG_")));
  #process: ChildProcess | undefined;

  async start(): Promise<void> {
    if (this.#process === undefined) execFileSync(this.#program, ["init", TEAM, "--data-root", this.root], { env: this.#env });
    const process = spawn(this.#program, ["serve", "--data-root", this.root], { env: this.#env, stdio: ["ignore", "pipe", "inherit"] });
    this.#process = process;
    // Its first line says that it is ready.
    await once(process.stdout, "data");
  }

  async stop(): Promise<void> {
    const ended = this.#process?.exitCode === null ? once(this.#process, "exit") : undefined;
    this.#process?.kill();
    await ended;
  }

  async remove(): Promise<void> {
    await this.stop();
    rmSync(this.root, { recursive: true, force: true });
  }
}
