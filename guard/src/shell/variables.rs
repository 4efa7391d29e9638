//! Variables that change the effect of programs. The table lists them.

use super::table::lists;

/// Returns true if setting the variable to this value changes the effect of programs. `None` is an unknown value.
pub(super) fn changes(name: &str, value: Option<&str>) -> bool {
    let asks = name.ends_with("PAGER") || name.ends_with("EDITOR");
    let binds = lists("@variable", name) && !lists("@variable-harmless", name);
    binds && !(asks && value.is_some_and(idles))
}

/// Returns true if a command has no output, edits nothing, and runs no other program.
pub(super) fn idles(command: &str) -> bool {
    command.is_empty() || lists("@idle", command)
}
