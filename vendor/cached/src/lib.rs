//! `brush-parser` remembers its last 64 results with `cached`. The guard parses each text once, and the real crate brings
//! eleven others into every build of teamlog.
#![forbid(unsafe_code)]

/// Where the attribute is looked for.
pub use uncached as proc_macro;
