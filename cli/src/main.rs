//! The command line of teamlog.
fn main() {}
