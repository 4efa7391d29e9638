//! Common imports of the tests.

pub use crate::harness::{Cli, Ran, parse, parse_lines};
pub use crate::waiting::{until, until_some};
pub use serde_json::{Value, json};
pub use std::collections::{BTreeMap, BTreeSet};
pub use std::io::BufReader;
pub use std::path::{Path, PathBuf};
pub use std::process::{Child, Command, Stdio};
pub use std::time::{Duration, Instant};
