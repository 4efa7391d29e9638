//! Tests of scripts: folds, keys, errors, limits.
#![expect(clippy::unwrap_used, reason = "tests")]

mod folds;
mod hostile;
