//! Reads the build and test commands of a project from its files, as a proposal for `guard.known`.
//!
//! Proposes only commands that read sources and write build output. Formatters, installers, generators and deployments
//! are not proposed, because they write files that other agents may hold.

use crate::agents::file;
use serde_json::Value;
use std::path::Path;
use teamlog_team::projections::team::settings::Setting;

/// Maximum number of commands that are proposed per file.
const COMMANDS_MAX: usize = 20;

/// First words of the names of scripts, targets and recipes that build or test.
const BUILDS: [&str; 17] = [
    "all",
    "bench",
    "build",
    "check",
    "ci",
    "compile",
    "coverage",
    "e2e",
    "integration",
    "lint",
    "spec",
    "test",
    "tests",
    "type",
    "typecheck",
    "unit",
    "verify",
];
/// Words that exclude the name of a script, because such a script does more than building or testing.
const MORE: [&str; 14] = [
    "clean", "deploy", "dev", "fix", "fmt", "format", "install", "publish", "push", "release",
    "serve", "update", "watch", "write",
];

/// Returns the commands that the project files of a directory define.
pub fn commands(dir: &Path) -> Vec<String> {
    let read = |name: &str| file::read(&dir.join(name)).ok().flatten();
    let first = |names: &[&str]| names.iter().find_map(|name| read(name));
    let has = |name: &str| dir.join(name).exists();
    let mut found = Vec::new();
    if has("Cargo.toml") {
        found.extend(lines(
            "cargo build, cargo check, cargo clippy, cargo doc, cargo test, cargo fmt --check, cargo fmt --all --check",
        ));
    }
    if let Some(text) = read("package.json") {
        let manager = [
            ("pnpm-lock.yaml", "pnpm"),
            ("yarn.lock", "yarn"),
            ("bun.lock", "bun"),
            ("bun.lockb", "bun"),
        ];
        let manager = manager.iter().find(|(lock, _)| has(lock));
        found.extend(scripts(&text, manager.map_or("npm", |(_, name)| name)));
    }
    if let Some(text) = read("pyproject.toml") {
        found.extend(python(&text, has("uv.lock"), has("poetry.lock")));
    }
    if has("go.mod") {
        found.extend(lines("go build, go test, go vet"));
    }
    if let Some(text) = first(&["GNUmakefile", "makefile", "Makefile"]) {
        found.extend(rules(&text, "make", false));
    }
    if let Some(text) = first(&["justfile", "Justfile", ".justfile"]) {
        found.extend(rules(&text, "just", true));
    }
    let mut proposed: Vec<String> = Vec::new();
    for command in found {
        if !proposed.contains(&command) {
            proposed.push(command);
        }
        // The setting has a maximum length and accepts only some characters.
        if Setting::GuardKnown.parse(&proposed.join(", ")).is_err() {
            proposed.pop();
        }
    }
    proposed
}

fn lines(commands: &str) -> Vec<String> {
    commands.split(", ").map(str::to_owned).collect()
}

/// Returns true if the name of a script, target or recipe says that it only builds or tests.
fn builds(name: &str) -> bool {
    let mut words = name.split(|letter: char| !letter.is_alphanumeric());
    let plain = name
        .chars()
        .all(|letter| letter.is_ascii_alphanumeric() || "_-:.".contains(letter));
    plain
        && words
            .clone()
            .next()
            .is_some_and(|word| BUILDS.contains(&word))
        && !words.any(|word| MORE.contains(&word))
}

/// Returns the scripts of a `package.json` as command lines of its package manager.
fn scripts(text: &str, manager: &str) -> Vec<String> {
    let parsed: Value = serde_json::from_str(text).unwrap_or_default();
    let scripts = parsed.get("scripts").and_then(Value::as_object);
    let rewrites = |script: &Value| {
        let script = script.as_str().unwrap_or_default();
        ["--fix", "--write"]
            .iter()
            .any(|option| script.contains(option))
    };
    let scripts = scripts.into_iter().flatten();
    let names = scripts
        .filter(|(name, script)| builds(name) && !rewrites(script))
        .map(|(name, _)| name)
        .take(COMMANDS_MAX);
    let mut commands = Vec::new();
    for name in names {
        // npm has a short command only for `test`. pnpm and yarn run every script by its name. `bun test` does not run
        // the script `test`.
        let short = match manager {
            "npm" => name == "test",
            "bun" => false,
            _ => true,
        };
        commands.extend(short.then(|| format!("{manager} {name}")));
        commands.push(format!("{manager} run {name}"));
    }
    commands
}

fn python(text: &str, uv: bool, poetry: bool) -> Vec<String> {
    let mut commands = Vec::new();
    let tests = match text.contains("pytest") {
        true => {
            commands.push("pytest".to_owned());
            "pytest"
        }
        false => "unittest",
    };
    commands.push(format!("python -m {tests}"));
    commands.push(format!("python3 -m {tests}"));
    let runners = [(uv, "uv"), (poetry, "poetry")];
    for (_, runner) in runners.iter().filter(|(used, _)| *used) {
        commands.push(match tests {
            "pytest" => format!("{runner} run pytest"),
            _ => format!("{runner} run python -m unittest"),
        });
    }
    for (table, command) in [("[tool.mypy", "mypy"), ("[tool.ruff", "ruff check")] {
        commands.extend(text.contains(table).then(|| command.to_owned()));
    }
    commands
}

/// Returns the targets of a makefile or the recipes of a justfile. Parameters may follow the names of recipes.
fn rules(text: &str, program: &str, takes_parameters: bool) -> Vec<String> {
    let mut names: Vec<&str> = Vec::new();
    for line in text.lines() {
        if line.starts_with([' ', '\t', '#', '.', '[']) {
            continue;
        }
        let Some((before, after)) = line.split_once(':') else {
            continue;
        };
        // Skip assignments.
        if after.starts_with('=') || after.starts_with(":=") {
            continue;
        }
        let most = if takes_parameters { 1 } else { usize::MAX };
        let named = before.split_whitespace().take(most);
        names.extend(named.map(|name| name.trim_start_matches('@')));
    }
    names.retain(|name| builds(name));
    let commands = names.iter().take(COMMANDS_MAX);
    commands.map(|name| format!("{program} {name}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_build_or_test_are_told_from_others() {
        for name in ["test", "test:unit", "lint", "build-all", "type-check", "ci"] {
            assert!(builds(name), "{name}");
        }
        for name in [
            "lint:fix",
            "deploy",
            "test:watch",
            "format",
            "x y",
            "test,x",
            "build$X",
            "",
        ] {
            assert!(!builds(name), "{name}");
        }
    }

    #[test]
    fn targets_and_recipes_are_read_off_their_lines() {
        let makefile = "CC := gcc\nX = a:b\n.PHONY: test\ntest check: build\n\tcargo test: x\nbuild::\ninstall: all\n$(OUT): x\n";
        assert_eq!(
            rules(makefile, "make", false),
            ["make test", "make check", "make build"]
        );
        let justfile = "set shell := [\"sh\"]\nalias t := test\n[private]\n@lint:\n  x\ntest filter='a:b': build\nrelease:\n";
        assert_eq!(rules(justfile, "just", true), ["just lint", "just test"]);
    }

    #[test]
    fn scripts_are_run_by_the_manager_of_the_project() {
        let text =
            r#"{"scripts":{"test":"jest","lint":"eslint --fix .","build":"tsc","deploy":"x"}}"#;
        assert_eq!(
            scripts(text, "npm"),
            ["npm run build", "npm test", "npm run test"]
        );
        assert_eq!(scripts(text, "bun"), ["bun run build", "bun run test"]);
        assert_eq!(scripts("{", "npm"), [""; 0]);
    }
}
