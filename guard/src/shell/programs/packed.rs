//! Compressed files and archives, and the files that unpacking writes.

use super::*;
use crate::shell::table::Effect;

/// Returns the file that results from unpacking a compressed file. If the name of the compressed file does not show the name of the result,
/// returns any file in the directory.
pub(super) fn unpacked(path: &str) -> Value {
    let (stem, end) = path.rsplit_once('.').unwrap_or_default();
    let unpacked = match (lists("@packed", end), lists("@packed-tar", end)) {
        _ if last_name(stem).is_empty() || stem.ends_with('/') => None,
        (true, _) => Some(stem.to_owned()),
        (_, true) => Some(format!("{stem}.tar")),
        _ => None,
    };
    match unpacked {
        Some(path) => Value::Plain(path),
        None => Value::Below(parent(path).to_owned()),
    }
}

/// Splits a first word of letters without a dash into options. The options take the following words as values, in their
/// order.
pub(super) fn dashed(words: &[Value], spec: &Spec) -> Vec<Value> {
    let Some((Value::Plain(letters), rest)) = words.split_first() else {
        return words.to_vec();
    };
    if letters.starts_with('-') || !letters.bytes().all(|byte| byte.is_ascii_alphabetic()) {
        return words.to_vec();
    }
    let mut rest = rest.iter();
    let mut dashed = Vec::new();
    for letter in letters.chars() {
        let option = format!("-{letter}");
        let takes = spec.option(&option).is_some_and(Effect::takes_next);
        dashed.push(Value::Plain(option));
        if takes {
            dashed.extend(rest.next().cloned());
        }
    }
    dashed.extend(rest.cloned());
    dashed
}

/// Records the writes of unpacking an archive below the directories `dirs`. Each directory is relative to the
/// previous directory. Without directories, the archive is unpacked below the working directory. The archive may
/// contain links.
pub(super) fn extracts(walker: &Walker, name: &str, dirs: &[Value]) {
    let mut inside = walker.clone();
    let mut places = Vec::new();
    let here = [Value::Plain(".".to_owned())];
    for dir in if dirs.is_empty() { &here } else { dirs } {
        match dir {
            Value::Plain(dir) => {
                inside.target_below(dir, name);
                inside.place = inside.place.within(dir);
                places.push(inside.clone());
            }
            other => inside.target(other, name),
        }
    }
    for place in &places {
        place.add_link(Some("."), None, false);
    }
    if places.len() < dirs.len() {
        walker.add_link(None, None, false);
    }
}
