// For programs on the machine of the daemon: address and token from the file that the daemon writes.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Connection } from "./client.js";

/** Returns a connection to the daemon of a data root. The file `runtime.json` is read again when the daemon restarts. */
export const local =
  (root: string, team: string) =>
  async (): Promise<Connection> => {
    const { url, token } = JSON.parse(await readFile(join(root, "teams", team, "runtime.json"), "utf8")) as Connection;
    return { url, token };
  };
