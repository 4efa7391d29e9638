//! Runs the commands in README, the tour, the lead's day and `SKILL.md` as printed. The commands of each document run in order,
//! in a separate directory, and must succeed. Also checks that each published package has a README, keywords and licences.

use crate::prelude::*;

/// Returns the text of a document of the repository.
fn document(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name);
    std::fs::read_to_string(path).unwrap()
}

/// Returns the code blocks of a document that follow `mark`.
fn blocks<'a>(document: &'a str, mark: &str) -> Vec<&'a str> {
    let opening = format!("<!-- {mark} -->\n```sh\n");
    let behind = document.split(&*opening).skip(1);
    behind
        .map(|block| block.split("```").next().unwrap())
        .collect()
}

/// Runs the commands. Each must succeed, and may print only notes to standard error. The output must contain each text in `claims`.
fn teaches(script: &str, claims: &[&str]) {
    let binary = Path::new(env!("CARGO_BIN_EXE_teamlog"));
    let home = tempfile::tempdir().unwrap();
    let path = format!(
        "{}:{}",
        binary.parent().unwrap().display(),
        std::env::var("PATH").unwrap_or_default()
    );
    let output = Command::new("sh")
        .args(["-e", "-c", script])
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
    for claim in claims {
        assert!(
            said.contains(claim),
            "{claim:?} is missing in:\n{said}{failed}"
        );
    }
    // Allow the note that names the point of a read of the past.
    let beside: Vec<&str> = failed
        .lines()
        .filter(|line| !line.starts_with("note: as of event "))
        .collect();
    assert!(beside.is_empty(), "{failed}");
}

#[test]
fn the_story_of_the_readme_runs() {
    let readme = document("README.md");
    assert!(readme.lines().count() <= README_LINES_MAX);
    let story = blocks(&readme, "tour").concat();
    assert!(story.lines().count() > 12, "{story}");
    teaches(
        &story,
        &[
            "exit 1: dev holds it",
            "please test it",
            "completed",
            "task_claimed",
        ],
    );
}

#[test]
fn the_examples_of_appending_run() {
    let examples = blocks(&document("docs/appending.md"), "appending").concat();
    let claims = [
        "exit 1: anna is taken",
        "dev recorded name_taken [name=anna]",
        "{\"value\":1}\n{\"value\":2}\n{\"value\":3}",
    ];
    teaches(&examples, &claims);
}

#[test]
fn the_tour_runs() {
    let tour = blocks(&document("docs/tour.md"), "tour").concat();
    assert!(tour.lines().count() > 12, "{tour}");
    teaches(
        &tour,
        &[
            "superseded: changed nothing",
            "\"kind\":\"build_failed\"",
            "changed_since_receipt",
            "exit 65: damaged, and it says where",
            "exit 1: dev holds it",
        ],
    );
}

#[test]
fn the_day_of_a_lead_runs() {
    let day = blocks(&document("docs/lead.md"), "lead").concat();
    assert!(day.lines().count() > 40, "{day}");
    // Backups must not be in the data root.
    teaches(
        &("mkdir project\ncd project\n".to_owned() + day.as_str()),
        &[
            "tests  blocked  Test the parser  waits for parser",
            "reported blocked: guide by doc",
            "exit 1: dev is too late",
            "mode transiting: blueprint -> forge",
            "exit 1: not approved yet",
            "exit 1: tasks are open",
            "closed at",
        ],
    );
}

#[test]
fn the_guide_to_subscriptions_runs() {
    let guide = blocks(&document("docs/subscriptions.md"), "subscriptions").concat();
    assert!(guide.lines().count() > 5, "{guide}");
    teaches(
        &guide,
        &["build_failed at 2\nbuild_failed at 3", "alerts  at 3"],
    );
}

#[test]
fn the_guide_to_projections_runs() {
    let guide = blocks(&document("docs/projections.md"), "projections").concat();
    let cycle_time = document("docs/examples/cycle_time.rhai");
    let script = format!("cat > cycle_time.rhai <<'END'\n{cycle_time}END\n{guide}");
    teaches(
        &script,
        &[
            "ci            2",
            "\"state\":{\"builds\":1}",
            "projection cycle_time: equal",
        ],
    );
}

/// Maximum length of README: two screens, and a table of further documents.
const README_LINES_MAX: usize = 120;

/// Maximum number of words in the skill, because every agent of a team reads all of it.
const SKILL_WORDS_MAX: usize = 900;

/// Commands that prepare the team for the commands of the skill.
const BEFORE_SKILL: &str = "\
teamlog init demo --members lead,dev,qa
teamlog add 'Fix the login' --priority high --as lead
teamlog task-assign demo --from lead --to dev --task-id T-1 --subject 'Try it' --trace-id tr-1
teamlog ask dev 'which branch?' --as lead
export TEAMLOG_AGENT=dev
";

#[test]
fn every_command_of_the_skill_runs_as_it_is_printed() {
    let skill = document("SKILL.md");
    let words = skill.split_whitespace().count();
    assert!(words <= SKILL_WORDS_MAX, "{words} words");
    assert!(skill.starts_with("---\nname: teamlog\ndescription: "));
    let blocks = blocks(&skill, "run");
    assert!(blocks.len() >= 8, "{blocks:?}");
    // The block that names the agent is not run, because its variable would end with the shell that runs the block.
    assert_eq!(skill.matches("```sh\n").count(), blocks.len() + 1);
    teaches(
        &(BEFORE_SKILL.to_owned() + blocks.concat().as_str()),
        &[
            "1  completed  Fix the login",
            "1 question left to answer",
            "undid",
            "3  canceled",
            "healthy",
        ],
    );
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
        for field in ["license", "keywords", "rust-version"] {
            let line = format!("\n{field}.workspace = true\n");
            assert!(manifest.contains(&line), "{member} has no {field}");
        }
        // `cargo package` warns about a package without an address.
        let name = manifest
            .lines()
            .find_map(|line| line.strip_prefix("name = "));
        let name = name.unwrap().trim_matches('"');
        let documentation = format!("\ndocumentation = \"https://docs.rs/{name}\"\n");
        assert!(
            manifest.contains(&documentation),
            "{member} has no documentation"
        );
        let shared = manifest.contains("\nreadme.workspace = true\n");
        let own = manifest.contains("\nreadme = \"README.md\"\n");
        assert!(shared || own, "{member} has no readme");
        assert!(!own || read(&format!("{member}/README.md")).len() > 500);
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

/// The toolchain of the project is the oldest that the packages support, so that every check is one with that version.
#[test]
fn the_toolchain_is_the_minimum_supported_version() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let read = |path: &str| std::fs::read_to_string(root.join(path)).unwrap();
    let version = env!("CARGO_PKG_RUST_VERSION");
    let channel = format!("channel = \"{version}.0\"\n");
    assert!(read("rust-toolchain.toml").contains(&channel), "{version}");
    for page in ["README.md", "engine/README.md"] {
        assert!(read(page).contains(&format!(" {version}")), "{page}");
    }
}
