//! Variables that change what programs do.

/// Those whose names say it.
const BINDING: [&str; 50] = [
    "PATH",
    "BASH_ENV",
    "ENV",
    "CDPATH",
    "SHELL",
    "EDITOR",
    "VISUAL",
    "BROWSER",
    "PAGER",
    "MANPAGER",
    "BAT_PAGER",
    "BAT_CONFIG_PATH",
    "HOME",
    "XDG_CONFIG_HOME",
    "TMPDIR",
    "PS0",
    "PS1",
    "PS2",
    "PS4",
    "PROMPT_COMMAND",
    "BASH_ALIASES",
    "BASH_CMDS",
    "BASH_LOADABLES_PATH",
    "SHELLOPTS",
    "BASHOPTS",
    "HISTFILE",
    "EXECIGNORE",
    "GLOBIGNORE",
    "POSIXLY_CORRECT",
    "GCONV_PATH",
    "LESS",
    "LESSOPEN",
    "LESSCLOSE",
    "LESSKEY",
    "LESSKEYIN",
    "LESSKEY_CONTENT",
    "MORE",
    "TAR_OPTIONS",
    "GZIP",
    "XZ_OPT",
    "XZ_DEFAULTS",
    "UNZIP",
    "ZIPOPT",
    "RIPGREP_CONFIG_PATH",
    "CURL_HOME",
    "WGETRC",
    "SYSTEM_WGETRC",
    "SSH_ASKPASS",
    "SUDO_ASKPASS",
    "TEAMLOG_DATA_ROOT",
];
/// Those of loaders, and of programs that have many.
const FAMILIES: [&str; 7] = [
    "LD_",
    "DYLD_",
    "GIT_",
    "RSYNC_",
    "BASH_FUNC_",
    "AWK",
    "SSLKEYLOG",
];
/// Those among them that only say who wrote what, or what is asked.
const HARMLESS: [&str; 5] = [
    "GIT_AUTHOR_",
    "GIT_COMMITTER_",
    "GIT_TERMINAL_PROMPT",
    "GIT_OPTIONAL_LOCKS",
    "GIT_MERGE_AUTOEDIT",
];
/// Programs that do nothing as a pager or an editor.
const IDLE: [&str; 6] = ["", "cat", "less", "true", ":", "/bin/true"];

/// Whether giving a variable this value, if it is known, changes what programs do.
pub(super) fn changes(name: &str, value: Option<&str>) -> bool {
    let binds = BINDING.contains(&name) || FAMILIES.iter().any(|family| name.starts_with(family));
    let harmless = HARMLESS.iter().any(|known| name.starts_with(known));
    let asks = name.ends_with("PAGER") || name.ends_with("EDITOR");
    binds && !harmless && !(asks && value.is_some_and(idles))
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
