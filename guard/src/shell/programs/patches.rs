//! Patches: `apply_patch` as agents bring it along.

use super::Run;
use crate::patch;
use crate::shell::options::Words;
use crate::shell::walk::{Stdin, Walker};
use crate::shell::word::Value;
use crate::writes::Writes;

/// The text is an argument or stands on the standard input.
pub(super) fn envelope(walker: &mut Walker, run: &Run<'_>, _: &Words<'_>, writes: &mut Writes) {
    let name = run.name;
    let text = match (run.words, &run.stdin) {
        ([only], _) => only.plain(),
        ([], Some(Stdin::Text(text))) => Some(text.as_str()),
        _ => None,
    };
    match text.and_then(patch::files) {
        Some(files) => {
            for file in files {
                walker.target(&Value::Plain(file), name, writes);
            }
        }
        None => writes.doubt(format!("{name} is given no patch whose files can be read")),
    }
}
