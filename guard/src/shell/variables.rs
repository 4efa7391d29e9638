//! Variables that change what programs do: the table lists them.

use super::table;

/// Programs that do nothing as a pager or an editor.
const IDLE: [&str; 6] = ["", "cat", "less", "true", ":", "/bin/true"];

/// Whether giving a variable this value, if it is known, changes what programs do.
pub(super) fn changes(name: &str, value: Option<&str>) -> bool {
    let asks = name.ends_with("PAGER") || name.ends_with("EDITOR");
    table::variable_binds(name) && !(asks && value.is_some_and(idles))
}

/// Whether a command shows or edits nothing, and runs nothing else.
pub(super) fn idles(command: &str) -> bool {
    IDLE.contains(&command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_programs_is_told_from_what_does_not() {
        for (name, value) in [
            ("PATH", Some("")),
            ("LD_PRELOAD", None),
            ("GIT_SSH_COMMAND", Some("cat")),
            ("GIT_PAGER", Some("sh")),
            ("PAGER", None),
            ("TEAMLOG_DATA_ROOT", Some("/x")),
            ("RUSTC_WRAPPER", Some("x")),
            ("CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER", Some("x")),
            ("NODE_OPTIONS", Some("")),
            ("PYTHONSTARTUP", None),
            ("npm_config_script_shell", Some("x")),
        ] {
            assert!(changes(name, value), "{name}");
        }
        for (name, value) in [
            ("GIT_PAGER", Some("cat")),
            ("EDITOR", Some("true")),
            ("GIT_AUTHOR_NAME", None),
            ("TEAMLOG_AGENT", Some("dev")),
            ("RUST_LOG", None),
        ] {
            assert!(!changes(name, value), "{name}");
        }
    }
}
