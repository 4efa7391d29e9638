//! Generates and parses the extension of `pi` that asks the guard.

use serde_json::json;

const TEXT: &str = r#"// Written by `teamlog hooks install pi`, and replaced by it. Asks teamlog before a tool call writes.
import { spawnSync } from "node:child_process";

const [PROGRAM, ...ARGS] = WORDS;

export default function (pi: any) {
  pi.on("tool_call", async (event: any, ctx: any) => {
    const call = JSON.stringify({ toolName: event.toolName, input: event.input, cwd: ctx?.cwd ?? process.cwd() });
    const told = spawnSync(PROGRAM, ARGS, { input: call, encoding: "utf8", timeout: 10000 });
    if (told.status !== 0) {
      const why = (told.stderr ?? "").trim() || String(told.error ?? "teamlog guard gave no answer");
      return { block: true, reason: why };
    }
    const answer = told.stdout.trim();
    if (answer === "") return undefined;
    try {
      const { decision, reason } = JSON.parse(answer);
      if (decision === "ask" && ctx?.hasUI && (await ctx.ui.confirm("teamlog guard", reason))) return undefined;
      return { block: true, reason };
    } catch (error) {
      return { block: true, reason: `teamlog guard: ${error}` };
    }
  });
}
"#;

/// Text before the command line of the guard in the extension.
const WORDS: &str = "const [PROGRAM, ...ARGS] = ";

/// Returns the source text of the extension, which starts the guard with `words`.
pub fn text(words: &[String]) -> String {
    TEXT.replacen("WORDS", &json!(words).to_string(), 1)
}

/// Returns the command line with which the extension starts the guard. Returns `None` if teamlog did not write the
/// extension.
pub fn words(text: &str) -> Option<Vec<String>> {
    let line = text.lines().find_map(|line| line.strip_prefix(WORDS))?;
    serde_json::from_str(line.strip_suffix(';')?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_stand_in_it_as_they_are() {
        let words = ["/a b/teamlog".to_owned(), "\"'WORDS".to_owned()];
        let text = text(&words);
        assert!(text.contains(r#"= ["/a b/teamlog","\"'WORDS"];"#), "{text}");
        assert_eq!(super::words(&text).unwrap(), words);
        assert_eq!(super::words("const x = 1;"), None);
    }
}
