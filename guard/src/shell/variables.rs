//! Variables that change what programs do: the table lists them.

use super::table::lists;

/// Whether giving a variable this value, if it is known, changes what programs do.
pub(super) fn changes(name: &str, value: Option<&str>) -> bool {
    let asks = name.ends_with("PAGER") || name.ends_with("EDITOR");
    let binds = lists("@variable", name) && !lists("@variable-harmless", name);
    binds && !(asks && value.is_some_and(idles))
}

/// Whether a command shows or edits nothing, and runs nothing else.
pub(super) fn idles(command: &str) -> bool {
    command.is_empty() || lists("@idle", command)
}
