// Asks a daemon for its document and cuts it down to what the page asks for: all paths but the operations beneath
// /v1/api/, and the schemas that these use. The program is $TEAMLOG.
//   node build/schema.mjs > dist/page.json

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

async function document() {
  const root = mkdtempSync(join(tmpdir(), "teamlog-schema-"));
  const program = process.env["TEAMLOG"] ?? "teamlog";
  execFileSync(program, ["init", "demo", "--data-root", root]);
  const daemon = spawn(program, ["serve", "--data-root", root], { stdio: ["ignore", "pipe", "inherit"] });
  try {
    // Its first line says that it is ready.
    await once(daemon.stdout, "data");
    const { url, token } = JSON.parse(readFileSync(join(root, "teams/demo/runtime.json"), "utf8"));
    const answer = await fetch(`${url}/v1/openapi.json`, { headers: { authorization: `Bearer ${token}` } });
    return await answer.json();
  } finally {
    daemon.kill();
    await once(daemon, "exit");
    rmSync(root, { recursive: true });
  }
}

const whole = await document();
const paths = Object.fromEntries(Object.entries(whole.paths).filter(([path]) => !path.startsWith("/v1/api/")));

const used = new Set();
const follow = (value) => {
  if (Array.isArray(value)) return value.forEach(follow);
  if (typeof value !== "object" || value === null) return;
  for (const [name, part] of Object.entries(value)) {
    if (name === "$ref" && typeof part === "string" && !used.has(part)) {
      used.add(part);
      const [, , kind, id] = part.split("/");
      follow(whole.components?.[kind]?.[id]);
    } else follow(part);
  }
};
follow(paths);

const components = Object.fromEntries(
  Object.entries(whole.components ?? {}).map(([kind, all]) => [
    kind,
    kind === "securitySchemes" ? all : Object.fromEntries(Object.entries(all).filter(([id]) => used.has(`#/components/${kind}/${id}`))),
  ]),
);
process.stdout.write(`${JSON.stringify({ ...whole, paths, components }, null, 1)}\n`);
