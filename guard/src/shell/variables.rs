//! Variables that change the effect of programs, as listed in the table.

use super::table::lists;

/// Returns true if setting a variable to this value, if it is known, changes the effect of programs.
pub(super) fn changes(name: &str, value: Option<&str>) -> bool {
    let asks = name.ends_with("PAGER") || name.ends_with("EDITOR");
    let binds = lists("@variable", name) && !lists("@variable-harmless", name);
    binds && !(asks && value.is_some_and(idles))
}

/// Returns true if a command shows or edits nothing, and runs nothing else.
pub(super) fn idles(command: &str) -> bool {
    command.is_empty() || lists("@idle", command)
}
