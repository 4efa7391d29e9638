//! The tour of the README runs as it is printed: every line in one directory, in order, and each succeeds. Packages bring
//! the README with them.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::path::Path;
use std::process::Command;

#[test]
fn the_tour_of_the_readme_runs() {
    let binary = Path::new(env!("CARGO_BIN_EXE_teamlog"));
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../README.md");
    let readme = std::fs::read_to_string(readme).unwrap();
    let blocks = readme.split("<!-- tour -->\n```sh\n").skip(1);
    let tour: String = blocks
        .map(|block| block.split("```").next().unwrap())
        .collect();
    assert!(tour.lines().count() > 12, "{tour}");

    let home = tempfile::tempdir().unwrap();
    let path = format!(
        "{}:{}",
        binary.parent().unwrap().display(),
        std::env::var("PATH").unwrap_or_default()
    );
    let output = Command::new("sh")
        .args(["-e", "-c", &tour])
        .current_dir(home.path())
        .env("PATH", path)
        .env("HOME", home.path())
        .env_remove("TEAMLOG_DATA_ROOT")
        .env_remove("TEAMLOG_AGENT")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let failed = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}{failed}");
    // What the text around the commands claims.
    for claim in [
        "superseded: changed nothing",
        "\"kind\":\"build_failed\"",
        "changed_since_receipt",
        "exit 65: damaged, and it says where",
        "exit 1: dev holds it",
    ] {
        assert!(
            said.contains(claim),
            "{claim:?} is missing in:\n{said}{failed}"
        );
    }
    // Beside its answer a look back says which point it looks at, and nothing else is said there.
    let beside: Vec<&str> = failed
        .lines()
        .filter(|line| !line.starts_with("note: as of event "))
        .collect();
    assert!(beside.is_empty(), "{failed}");
}

#[test]
fn every_package_brings_readme_keywords_and_licences() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let read = |path: &str| std::fs::read_to_string(root.join(path)).unwrap();
    let members = read("Cargo.toml");
    let members = members.split("members = [").nth(1).unwrap();
    let members = members.split(']').next().unwrap().split(", ");
    let mut packages = 0;
    for member in members.map(|member| member.trim_matches('"')) {
        let manifest = read(&format!("{member}/Cargo.toml"));
        if manifest.contains("publish = false") {
            continue;
        }
        packages += 1;
        for field in ["license", "readme", "keywords", "rust-version"] {
            let line = format!("\n{field}.workspace = true\n");
            assert!(manifest.contains(&line), "{member} has no {field}");
        }
        for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
            assert_eq!(
                read(&format!("{member}/{licence}")),
                read(licence),
                "{member}"
            );
        }
    }
    assert!(packages > 5, "{packages}");
}
