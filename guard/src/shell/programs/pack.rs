//! Names of packed files, and of what they are unpacked to.

use super::{last_name, parent};
use crate::shell::word::Value;

/// The ends of names by which packed files are known, and what they are without.
const ENDS: [(&str, &str); 11] = [
    (".gz", ""),
    (".tgz", ".tar"),
    (".z", ""),
    (".Z", ""),
    (".bz2", ""),
    (".tbz2", ".tar"),
    (".tbz", ".tar"),
    (".xz", ""),
    (".txz", ".tar"),
    (".zst", ""),
    (".tzst", ".tar"),
];

/// Where a packed file goes.
pub(super) fn unpacked(path: &str) -> Value {
    let known = ENDS
        .iter()
        .find_map(|(end, other)| Some(format!("{}{other}", path.strip_suffix(end)?)));
    match known {
        Some(path) if !last_name(&path).is_empty() => Value::Plain(path),
        _ => Value::Below(parent(path).to_owned()),
    }
}
