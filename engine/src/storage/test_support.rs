//! Helpers for the tests of the storages.

use std::io;
use std::path::Path;

pub(super) fn path(text: &str) -> &Path {
    Path::new(text)
}

/// Checks that the answer is an error of the given kind.
#[track_caller]
pub(super) fn fails<T>(answer: io::Result<T>, kind: io::ErrorKind) {
    match answer {
        Ok(_) => panic!("it succeeded, not {kind:?}"),
        Err(error) => assert_eq!(error.kind(), kind, "{error}"),
    }
}
