//! Tests of paths that tasks declare: which agents may claim such a task, and which agents may
//! write to the paths.

use crate::claims::{claim, complete, new};
use crate::prelude::*;
use std::fs;
use std::os::unix::fs::symlink;
use teamlog_team::resource::RESOURCES_MAX;
use teamlog_team::resource::can_write::{CanWrite, CanWriteAll, WriteReason, WriteVerdict};
use teamlog_team::task::resources::SetTaskResources;

fn texts(texts: &[&str]) -> Option<Vec<String>> {
    Some(texts.iter().map(|text| text.to_string()).collect())
}

fn declaring(resources: &[&str]) -> TaskCreate {
    given!(TaskCreate, resources: texts(resources), ..new("write"))
}

fn make(team: &mut Team, resources: &[&str]) -> String {
    team.task_create(declaring(resources))
        .unwrap()
        .task
        .task
        .task_id
}

fn make_shared(team: &mut Team, resources: &[&str], shared: bool) -> String {
    let create = given!(TaskCreate, shared, ..declaring(resources));
    team.task_create(create).unwrap().task.task.task_id
}

fn take(team: &mut Team, task: &str, worker: &str) -> ClaimAnswer {
    team.task_claim(claim(task, worker)).unwrap()
}

fn set(team: &mut Team, key: &str, value: &str) {
    team.config_change(given!(ConfigChange, key, value))
        .unwrap();
}

fn ask(team: &mut Team, agent: &str, path: &str) -> WriteVerdict {
    team.can_write(given!(CanWrite; agent, path)).unwrap()
}

fn reason(team: &mut Team, agent: &str, path: &str) -> &'static str {
    let verdict = ask(team, agent, path);
    assert_eq!(
        verdict.allow,
        verdict.reason == WriteReason::LeaseActiveForResource
    );
    verdict.reason.name()
}

const YES: &str = "lease_active_for_resource";
const NOBODY: &str = "no_active_lease_for_path";
const OTHER: &str = "resource_held_by_other";
const OUT: &str = "path_traversal_denied";
const INVALID: &str = "invalid_path";

#[test]
fn resources_are_kept_in_one_form_and_bad_ones_are_refused() {
    let (_, mut team) = demo();
    let create = declaring(&["./src//io/", "src/io", "docs/*.md", "."]);
    let task = team.task_create(create).unwrap().task;
    assert_eq!(task.governed.resources, ["src/io", "docs/*.md", "."]);
    assert_eq!((task.governed.shared, &task.governed.extra), (None, &None));
    for bad in ["", "/etc", "../x", "a/../b", "a\\b", "a\u{7}b"] {
        let refusal = refused(team.task_create(declaring(&[bad])), Code::InvalidInput);
        assert_eq!(refusal.field.as_deref(), Some("resources"), "{bad:?}");
    }
    let many: Vec<String> = (0..=RESOURCES_MAX).map(|at| format!("d{at}")).collect();
    let many = given!(TaskCreate, resources: many, ..new("many"));
    refused(team.task_create(many), Code::TooLarge);
}

#[test]
fn resources_change_until_somebody_works_on_the_task() {
    let (world, mut team) = demo();
    let id = make(&mut team, &["src"]);
    let wanting = |resources: &[&str], shared| {
        let task_id = id.clone();
        SetTaskResources {
            task_id,
            resources: texts(resources),
            shared,
            expected_version: None,
        }
    };
    let changed = team
        .set_task_resources(wanting(&["docs/"], Some(true)))
        .unwrap();
    assert_eq!(changed.task.governed.resources, ["docs"]);
    assert_eq!(
        (changed.task.governed.shared, changed.task.version),
        (Some(true), 1)
    );
    let last = events(&mut team).pop().unwrap();
    has!(last, {"kind": "resource_declared",
        "payload": {"task_id": id, "resources": ["docs"], "shared": true}});
    // Setting equal paths a second time records nothing.
    let before = events(&mut team).len();
    team.set_task_resources(wanting(&["docs"], None)).unwrap();
    assert_eq!(events(&mut team).len(), before);
    let nothing = SetTaskResources {
        resources: None,
        ..wanting(&[], None)
    };
    refused(team.set_task_resources(nothing), Code::InvalidInput);
    take(&mut team, &id, "dev");
    let refusal = refused(
        team.set_task_resources(wanting(&["src"], None)),
        Code::ClaimConflict,
    );
    assert_eq!(refusal.field.as_deref(), Some("resources"));
    assert_eq!(events(&mut team).len(), before + 1);
    world.later(16 * MINUTE);
    let changed = team.set_task_resources(wanting(&["src"], None)).unwrap();
    assert_eq!(changed.task.governed.resources, ["src"]);
    let changed = team.set_task_resources(wanting(&[], None)).unwrap();
    assert_eq!(changed.task.governed.resources, [""; 0]);
    settled_digest(&mut team);
}

#[test]
fn overlapping_paths_of_two_agents_are_refused_with_the_holder_named() {
    let (_, mut team) = demo();
    let wide = make(&mut team, &["docs", "src"]);
    let narrow = make(&mut team, &["src/io/*.rs"]);
    take(&mut team, &wide, "dev");
    let before = events(&mut team).len();
    let refusal = refused(
        team.task_claim(claim(&narrow, "qa")),
        Code::ResourceConflict,
    );
    shows!(refusal.message =>
        is "resource src/io/*.rs of task 2 overlaps src, which dev holds for task 1 until 2026-11-21T12:15:00.000000Z");
    assert_eq!(refusal.details["holder"], "dev");
    assert_eq!(
        refusal.details["conflicts"],
        json!([{"resource": "src/io/*.rs", "held": "src", "task_id": "1", "holder": "dev",
            "leased_until": "2026-11-21T12:15:00.000000Z"}])
    );
    assert_eq!(events(&mut team).len(), before);
    // A holder may claim a task with overlapping paths of its own.
    take(&mut team, &narrow, "dev");
}

#[test]
fn a_path_is_free_again_once_its_lease_ran_out_or_its_task_ended() {
    let (world, mut team) = demo();
    let (first, second) = (make(&mut team, &["src"]), make(&mut team, &["src"]));
    let third = make(&mut team, &["src"]);
    let held = take(&mut team, &first, "dev");
    refused(
        team.task_claim(claim(&second, "qa")),
        Code::ResourceConflict,
    );
    team.task_finish(complete(&held)).unwrap();
    let held = take(&mut team, &second, "qa");
    world.later(14 * MINUTE);
    let renew = given!(TaskRenew, task_id: second.clone(), claim_token: held.claim_token);
    team.task_renew(renew.clone()).unwrap();
    world.later(14 * MINUTE);
    refused(
        team.task_claim(claim(&third, "dev")),
        Code::ResourceConflict,
    );
    world.later(MINUTE);
    take(&mut team, &third, "dev");
    // The lease of the first holder has expired. The first holder can no longer renew the claim or write.
    refused(team.task_renew(renew), Code::LeaseExpired);
    assert_eq!(reason(&mut team, "qa", "src/a"), OTHER);
    assert_eq!(reason(&mut team, "dev", "src/a"), YES);
    settled_digest(&mut team);
}

#[test]
fn both_must_be_shared_and_everything_is_unless_it_says_otherwise() {
    for (one, two, granted) in [
        (("src", Some(true)), ("src/io", Some(true)), true),
        (("src", Some(true)), ("src/io", None), false),
        (("src", None), ("src", Some(true)), false),
        ((".", None), (".", None), true),
        ((".", None), ("src", None), false),
        (("src", None), (".", None), false),
        ((".", None), ("src", Some(true)), true),
        ((".", Some(false)), (".", None), false),
        (("**", None), (".", None), false),
        (("src", None), ("docs", None), true),
    ] {
        let (_, mut team) = demo();
        let mut make = |(path, shared): (&str, Option<bool>)| match shared {
            Some(shared) => make_shared(&mut team, &[path], shared),
            None => make(&mut team, &[path]),
        };
        let (first, second) = (make(one), make(two));
        take(&mut team, &first, "dev");
        let taken = team.task_claim(claim(&second, "qa"));
        assert_eq!(taken.is_ok(), granted, "{one:?} {two:?}");
        if let Ok(taken) = taken {
            assert_eq!(taken.overlaps, []);
        }
    }
}

#[test]
fn an_advisory_policy_grants_with_a_warning() {
    let (_, mut team) = demo();
    set(&mut team, "resources.policy", "advisory");
    let (first, second) = (make(&mut team, &["src"]), make(&mut team, &["src/io"]));
    assert!(
        json(&take(&mut team, &first, "dev"))
            .get("overlaps")
            .is_none()
    );
    let taken = json(&take(&mut team, &second, "qa"));
    assert_eq!(
        taken["overlaps"],
        json!([{"resource": "src/io", "held": "src", "task_id": "1", "holder": "dev",
            "leased_until": "2026-11-21T12:15:00.000000Z"}])
    );
    assert_eq!(reason(&mut team, "dev", "src/io/a"), YES);
    assert_eq!(reason(&mut team, "qa", "src/io/a"), YES);
    assert_eq!(reason(&mut team, "qa", "src/a"), OTHER);
}

#[test]
fn the_next_task_is_the_best_whose_paths_are_free() {
    let (world, mut team) = demo();
    let next = |team: &mut Team, worker: &str| {
        let claim = given!(ClaimNext, worker);
        team.claim_next(claim)
            .unwrap()
            .task
            .map(|task| task.task.task_id)
    };
    let mut ids: Vec<String> = Vec::new();
    for _ in 0..40 {
        ids.push(make(&mut team, &["src"]));
    }
    ids.push(make(&mut team, &["docs"]));
    assert_eq!(next(&mut team, "dev").as_ref(), Some(&ids[0]));
    assert_eq!(next(&mut team, "qa").as_ref(), Some(&ids[40]));
    assert_eq!(next(&mut team, "qa"), None);
    assert_eq!(next(&mut team, "dev").as_ref(), Some(&ids[1]));
    world.later(16 * MINUTE);
    assert_eq!(next(&mut team, "qa").as_ref(), Some(&ids[0]));
    settled_digest(&mut team);
}

#[test]
fn a_lease_of_ones_own_covers_a_path_however_it_is_written() {
    let (world, mut team) = demo();
    let id = make(&mut team, &["src/io", "docs/*.md"]);
    assert_eq!(reason(&mut team, "dev", "src/io/a"), NOBODY);
    take(&mut team, &id, "dev");
    for (path, expected) in [
        ("src/io", YES),
        ("src/io/a/b.rs", YES),
        ("./src//io/./a", YES),
        ("src/x/../io/a", YES),
        ("src\\io\\a", YES),
        ("docs/a.md", YES),
        ("docs/a.rs", NOBODY),
        ("docs/x/a.md", NOBODY),
        ("src/iox", NOBODY),
        ("src", NOBODY),
        (".", NOBODY),
        ("", NOBODY),
        ("src/io/../../secret", NOBODY),
        ("src\\io\\..\\..\\secret", NOBODY),
        ("src/io\\..\\..\\secret", NOBODY),
        ("src/io/../../../secret", OUT),
        ("src/io\\..\\..\\..\\secret", OUT),
        ("..", OUT),
        ("/src/io/a", INVALID),
        ("a\0b", INVALID),
    ] {
        assert_eq!(reason(&mut team, "dev", path), expected, "{path:?}");
    }
    assert_eq!(reason(&mut team, "qa", "src/io/a"), OTHER);
    let told = json(&ask(&mut team, "qa", "./src/io/a"));
    assert_eq!(
        told,
        json!({"allow": false, "reason": OTHER, "path": "src/io/a", "task_id": "1", "holder": "dev",
            "resource": "src/io", "until": "2026-11-21T12:15:00.000000Z"})
    );
    world.later(15 * MINUTE);
    assert_eq!(reason(&mut team, "dev", "src/io/a"), NOBODY);
    let nobody = given!(CanWrite; agent: "a/b", path: None::<String>);
    refused(team.can_write(nobody), Code::InvalidInput);
}

#[test]
fn everything_is_covered_by_a_dot() {
    let (_, mut team) = demo();
    let id = make(&mut team, &["."]);
    take(&mut team, &id, "dev");
    for path in [".", "", "a", "a/b"] {
        assert_eq!(reason(&mut team, "dev", path), YES, "{path:?}");
    }
    assert_eq!(reason(&mut team, "dev", "../a"), OUT);
}

#[test]
fn beneath_a_root_absolute_paths_count_and_links_are_followed() {
    let (_, mut team) = demo();
    let dir = tempfile::tempdir().unwrap();
    let repo = dir.path().join("repo");
    fs::create_dir_all(repo.join("src/io")).unwrap();
    fs::create_dir_all(dir.path().join("elsewhere")).unwrap();
    symlink("src/io", repo.join("in")).unwrap();
    symlink("../elsewhere", repo.join("out")).unwrap();
    symlink("../../../elsewhere", repo.join("src/io/out")).unwrap();
    symlink(repo.join("docs"), repo.join("src/io/docs")).unwrap();
    symlink(&repo, dir.path().join("alias")).unwrap();
    let at = |root: &std::path::Path, path: &str| format!("{}/{path}", root.display());
    let alias = dir.path().join("alias");
    set(&mut team, "resources.root", alias.to_str().unwrap());
    let id = make(&mut team, &["src/io"]);
    take(&mut team, &id, "dev");
    for (path, expected) in [
        (at(&repo, "src/io/new/file"), YES),
        (at(&alias, "src/io/a"), YES),
        (at(&alias, "in/a"), YES),
        ("in/a".to_owned(), YES),
        ("in/../a".to_owned(), NOBODY),
        ("out/a".to_owned(), OUT),
        ("src/io/out/a".to_owned(), OUT),
        ("src/io/docs/a".to_owned(), NOBODY),
        (at(&repo, "../elsewhere/a"), OUT),
        (at(dir.path(), "elsewhere/a"), OUT),
        (at(dir.path(), "repository"), OUT),
        ("/etc/passwd".to_owned(), OUT),
    ] {
        assert_eq!(reason(&mut team, "dev", &path), expected, "{path}");
    }
    let asked = given!(CanWriteAll; agent: "dev", root: at(&repo, "src"),
        paths: vec!["io/a".into(), at(&repo, "src/src/io/a")]);
    let verdicts = team.can_write_all(&asked).unwrap();
    let allowed: Vec<bool> = verdicts.iter().map(|verdict| verdict.allow).collect();
    assert_eq!(allowed, [false, true]);
}

#[test]
fn what_is_held_comes_out_of_the_log_alone() {
    for format in [Format::Jsonl, Format::Binary] {
        let (world, mut team) = team_of(Some(&["lead", "dev", "qa"]), format);
        let shared = make_shared(&mut team, &["src"], true);
        take(&mut team, &shared, "dev");
        set(&mut team, "resources.root", "/repo/");
        set(&mut team, "resources.policy", "advisory");
        settled_digest(&mut team);
        let mut team = world.root.team("demo").unwrap();
        let setting = |team: &mut Team, key| team.config_get(key).unwrap().setting.value;
        assert_eq!(setting(&mut team, "resources.root").text(), "/repo");
        assert_eq!(setting(&mut team, "resources.policy").text(), "advisory");
        assert_eq!(reason(&mut team, "dev", "/repo/src/x"), YES);
        let bad = given!(ConfigChange, key: "resources.root", value: "repo");
        refused(team.config_change(bad), Code::InvalidInput);
    }
}
