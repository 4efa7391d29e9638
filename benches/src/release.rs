//! The released program.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Returns the build directory of cargo, which also holds this program.
pub fn target() -> PathBuf {
    let own = std::env::current_exe().unwrap();
    let mut above = own.ancestors();
    let found = above.find(|dir| dir.join(".rustc_info.json").exists());
    found.unwrap().to_path_buf()
}

/// Builds the command line in the given profile; returns the path of the program.
pub fn build(profile: &str) -> PathBuf {
    built(profile, "teamlog", "teamlog")
}

/// Builds the program that locks a file, appends to another file and syncs that file; returns the path of the program.
pub fn build_floor(profile: &str) -> PathBuf {
    built(profile, "teamlog-benches", "append-floor")
}

fn built(profile: &str, package: &str, program: &str) -> PathBuf {
    let target = target();
    let cargo = std::env::var_os("CARGO").unwrap_or("cargo".into());
    let status = Command::new(cargo)
        .args(["build", "--quiet", "--profile", profile])
        .args(["-p", package, "--bin", program, "--target-dir"])
        .arg(&target)
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")))
        .status()
        .unwrap();
    assert!(status.success(), "{program} must build");
    target.join(profile).join(program)
}

/// Runs a command that must succeed, and ignores its output.
pub fn run_quietly(command: &mut Command) {
    let status = command.stdout(Stdio::null()).status().unwrap();
    assert!(status.success(), "{command:?}");
}
