//! Links the program statically and at a fixed address if that is possible, which is the case on Linux with glibc and its
//! archives.
//!
//! A process that loads no libraries and needs no relocation starts in two thirds of the time, and a short command
//! spends most of its time on the start. The build script sets the linker's options instead of flags of rustc, so
//! that `cargo build` and `cargo install` link the program in one way, even from a registry, and so that procedural
//! macros, which are libraries, are built as usual. With `TEAMLOG_DYNAMIC=1`, rustc links as usual.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Libraries for which rustc asks the linker, each with the archive that replaces it.
const ARCHIVES: [(&str, &str); 7] = [
    ("gcc_s", "libgcc_eh.a"),
    ("c", "libc.a"),
    ("m", "libm.a"),
    ("util", "libutil.a"),
    ("rt", "librt.a"),
    ("pthread", "libpthread.a"),
    ("dl", "libdl.a"),
];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=TEAMLOG_DYNAMIC");
    if !wanted() {
        return;
    }
    let Some(out) = env::var_os("OUT_DIR").map(PathBuf::from) else {
        return;
    };
    if ARCHIVES.iter().all(|(name, file)| put(&out, name, file)) {
        // Only the link of the program searches this directory. Tests are linked as usual.
        println!("cargo::rustc-link-arg-bins=-L{}", out.display());
        // The libraries call each other, and linkers differ in how often they search a library. A group is searched
        // repeatedly.
        for arg in [
            "-static",
            "-no-pie",
            "-Wl,--start-group,-lgcc_eh,-lgcc,-lc,--end-group",
        ] {
            println!("cargo::rustc-link-arg-bins={arg}");
        }
    }
}

fn is(name: &str, value: &str) -> bool {
    env::var(name).is_ok_and(|found| found == value)
}

/// Returns true if rustc links against shared libraries of the build machine, and `TEAMLOG_DYNAMIC` is not set.
fn wanted() -> bool {
    let features = env::var("CARGO_CFG_TARGET_FEATURE").unwrap_or_default();
    is("CARGO_CFG_TARGET_OS", "linux")
        && is("CARGO_CFG_TARGET_ENV", "gnu")
        && env::var("HOST") == env::var("TARGET")
        && !features.split(',').any(|feature| feature == "crt-static")
        && env::var_os("TEAMLOG_DYNAMIC").is_none()
}

/// Copies an archive of the C compiler to the first directory in which the linker looks for `lib{name}`. Returns false
/// if there is no such archive.
fn put(out: &Path, name: &str, file: &str) -> bool {
    let compiler = env::var_os("RUSTC_LINKER").unwrap_or("cc".into());
    let asked = Command::new(compiler)
        .arg(format!("-print-file-name={file}"))
        .output();
    let found = asked
        .ok()
        .and_then(|answer| String::from_utf8(answer.stdout).ok());
    // The compiler prints a name without a directory if it does not know the file.
    let Some(found) = found
        .map(|path| PathBuf::from(path.trim()))
        .filter(|path| path.is_absolute())
    else {
        return false;
    };
    let copy = out.join(format!("lib{name}.a"));
    // The copy of an earlier build may be read-only, because `fs::copy` also copies the permissions.
    let _ = fs::remove_file(&copy);
    fs::copy(found, copy).is_ok()
}
