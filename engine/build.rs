//! Reports an unsupported target system before anything fails to compile.
#![allow(
    clippy::print_stdout,
    reason = "this is how a build script speaks to cargo"
)]

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let system = std::env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    if let Some(missing) = missing(&system) {
        println!("cargo::error={missing}");
    }
}

fn missing(system: &str) -> Option<String> {
    let needed = "openat2, inotify, and what statfs tells of a file system";
    (system != "linux")
        .then(|| format!("teamlog runs on Linux only: {system} has not all of {needed}"))
}
