// Cuts the daemon's document down to what the page asks for, so that the types made of it stay readable:
// all paths but the operations beneath /v1/api/, and the schemas that these use.
//   node build/schema.mjs openapi.json > page.json

import { readFileSync } from "node:fs";

const document = JSON.parse(readFileSync(process.argv[2] ?? 0, "utf8"));
const paths = Object.fromEntries(Object.entries(document.paths).filter(([path]) => !path.startsWith("/v1/api/")));

const used = new Set();
const follow = (value) => {
  if (Array.isArray(value)) return value.forEach(follow);
  if (typeof value !== "object" || value === null) return;
  for (const [name, part] of Object.entries(value)) {
    if (name === "$ref" && typeof part === "string" && !used.has(part)) {
      used.add(part);
      const [, , kind, id] = part.split("/");
      follow(document.components?.[kind]?.[id]);
    } else follow(part);
  }
};
follow(paths);

const components = Object.fromEntries(
  Object.entries(document.components ?? {}).map(([kind, all]) => [
    kind,
    kind === "securitySchemes" ? all : Object.fromEntries(Object.entries(all).filter(([id]) => used.has(`#/components/${kind}/${id}`))),
  ]),
);
process.stdout.write(`${JSON.stringify({ ...document, paths, components }, null, 1)}\n`);
