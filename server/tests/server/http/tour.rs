//! Runs the tour of `docs/http.md` as printed. Compares the document's table of errors with the code.

use super::stand::Stand;
use std::path::{Path, PathBuf};
use std::process::Command;
use teamlog_server::route::{CODES, ROUTES};

fn page() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/http.md")
}

/// A command, and the output that the document prints.
#[derive(Debug, PartialEq)]
struct Step {
    command: String,
    prints: String,
}

/// Returns the steps of all `console` blocks in a document.
fn steps(page: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut inside = false;
    for line in page.lines() {
        match (inside, line, line.strip_prefix("$ ")) {
            (false, "```console", _) => inside = true,
            (true, "```", _) => inside = false,
            (true, _, Some(command)) => steps.push(Step {
                command: command.to_owned(),
                prints: String::new(),
            }),
            (true, text, None) => {
                let step = steps.last_mut().expect("a command before what it prints");
                step.prints.push_str(text);
                step.prints.push('\n');
            }
            _ => {}
        }
    }
    steps
}

/// Text that is printed before the output of each step.
const MARK: &str = "\u{1e}step\n";

#[test]
fn the_tour_goes_as_it_is_printed() {
    let stand = Stand::new();
    let steps = steps(&std::fs::read_to_string(page()).unwrap());
    assert!(steps.len() > 30, "{}", steps.len());
    let mut script = String::new();
    for step in &steps {
        script.push_str(&format!(
            "printf '%s\\n' '{}'\n{}\n",
            MARK.trim_end(),
            step.command
        ));
    }
    let ran = Command::new("bash")
        .args(["-c", &script])
        .current_dir(stand.dir.path())
        .env_remove("http_proxy")
        .output()
        .unwrap();
    let printed = String::from_utf8(ran.stdout).unwrap();
    let errors = String::from_utf8_lossy(&ran.stderr);
    let printed: Vec<&str> = printed.split(MARK).skip(1).collect();
    assert_eq!(printed.len(), steps.len(), "{printed:?} {errors}");
    for (step, printed) in steps.iter().zip(printed) {
        assert_eq!(printed, step.prints, "{}\n{errors}", step.command);
    }
    assert_eq!(errors, "");
}

/// Returns the rows of the table that begins with `head`.
fn table(head: &str) -> Vec<String> {
    let page = std::fs::read_to_string(page()).unwrap();
    let (_, table) = page.split_once(head).expect("a table");
    let rows = table.lines().take_while(|line| line.starts_with('|'));
    rows.map(str::to_owned).collect()
}

#[test]
fn the_table_of_errors_is_that_of_the_code() {
    let mut rows: Vec<_> = CODES.iter().collect();
    rows.sort_by_key(|row| row.status);
    let rows = rows.iter().map(|row| match row.elsewhere {
        None => format!("| {} | `{}` | |", row.status, row.code),
        Some(names) => {
            let names = names.replace(", ", "`, `");
            format!("| {} | `{}` | `{names}` |", row.status, row.code)
        }
    });
    let told = table("| status | code | elsewhere |\n|---|---|---|\n");
    assert_eq!(told, rows.collect::<Vec<_>>());
}

#[test]
fn the_table_of_calls_is_that_of_the_routes() {
    let rows = ROUTES.iter().map(|route| {
        let method = route.method.name();
        format!("| `{method} {}` | {} |", route.pattern, route.doc)
    });
    let told = table("| call | what it does |\n|---|---|\n");
    assert_eq!(told, rows.collect::<Vec<_>>());
}
