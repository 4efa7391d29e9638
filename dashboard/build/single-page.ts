// Builds one HTML file that contains the script and the style of the page, and beside it the content security policy with the digests of
// both. The daemon serves the page and the policy unchanged, so the page loads nothing else, and the browser runs no other script.

import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Plugin } from "vite";

const text = (source: string | Uint8Array): string =>
  typeof source === "string" ? source : new TextDecoder().decode(source);

const digest = (content: string): string => `'sha256-${createHash("sha256").update(content, "utf8").digest("base64")}'`;

/** Escapes text that a browser would parse as the end of the script element or as a comment. */
const inlineScript = (code: string): string =>
  code
    .trim()
    .replaceAll(/<\/(script)/gi, "<\\/$1")
    .replaceAll("<!--", "<\\!--");

/** Returns the policy: only the script and the style of the page, and calls of the daemon that serves the page. */
export const policyOf = (script: string, style: string): string =>
  [
    "default-src 'none'",
    `script-src ${digest(script)}`,
    `style-src ${digest(style)}`,
    "connect-src 'self'",
    "img-src 'self' data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");

/** Writes `index.html` and `policy.txt` to `into`, relative to the root of the Vite project. */
export const singlePage = (into: string): Plugin => {
  let root = ".";
  return {
    name: "single-page",
    apply: "build",
    enforce: "post",
    configResolved(config) {
      root = config.root;
    },
    generateBundle(_options, bundle) {
      let script = "";
      let style = "";
      let page = "";
      for (const [name, part] of Object.entries(bundle)) {
        if (part.type === "chunk") {
          if (script !== "") this.error(`${name}: the page may have one script only`);
          script = inlineScript(part.code);
        } else if (name.endsWith(".css")) {
          style += text(part.source).trim();
        } else if (name.endsWith(".html")) {
          page = text(part.source);
        } else {
          this.error(`${name}: the page loads nothing beside itself`);
        }
        delete bundle[name];
      }
      const html = page
        .replaceAll(/\s*<script\b[^>]*><\/script>/g, "")
        .replaceAll(/\s*<link\b[^>]*rel="stylesheet"[^>]*>/g, "")
        .replace("</head>", () => `<style>${style}</style>\n</head>`)
        .replace("</body>", () => `<script type="module">${script}</script>\n</body>`);
      const directory = resolve(root, into);
      mkdirSync(directory, { recursive: true });
      writeFileSync(join(directory, "index.html"), html);
      writeFileSync(join(directory, "policy.txt"), `${policyOf(script, style)}\n`);
    },
  };
};
