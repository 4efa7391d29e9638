//! Paths of open descriptors, such as `/dev/fd/3`. Writing to such a path writes to the descriptor's file.

use crate::place::tidy;

/// Returns the number of the descriptor that a path names.
pub(super) fn descriptor(path: &str) -> Option<u32> {
    let path = tidy(path);
    match path.as_str() {
        "/dev/stdin" => Some(0),
        "/dev/stdout" => Some(1),
        "/dev/stderr" => Some(2),
        path => ["/dev/fd/", "/proc/self/fd/", "/proc/thread-self/fd/"]
            .iter()
            .find_map(|dir| path.strip_prefix(dir))
            .and_then(|number| number.parse().ok()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stand_for_descriptors() {
        for (path, expected) in [
            ("/dev/stdin", Some(0)),
            ("/dev/../dev/fd/3", Some(3)),
            ("/proc/self/fd/12", Some(12)),
            ("/dev/fd/x", None),
            ("/dev/fd", None),
            ("/dev/null", None),
        ] {
            assert_eq!(descriptor(path), expected, "{path}");
        }
    }
}
