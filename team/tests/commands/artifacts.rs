//! Tests of artifacts: files that agents store for others.

use crate::prelude::*;
use proptest::prelude::*;
use teamlog_engine::internals::storage::Fault;
use teamlog_team::artifact::{
    ARTIFACT_BYTES_MAX, ArtifactFile, ArtifactGet, ArtifactList, ArtifactPut, ArtifactPutAnswer,
};

fn text(name: &str, content: &str) -> ArtifactPut {
    given!(ArtifactPut, name, content)
}

fn put(team: &mut Team, name: &str, content: &str) -> ArtifactPutAnswer {
    team.artifact_put(text(name, content)).unwrap()
}

fn get(name: &str) -> ArtifactGet {
    given!(ArtifactGet; name)
}

fn content(team: &mut Team, name: &str) -> String {
    team.artifact_get(&get(name)).unwrap().content.unwrap()
}

fn files(world: &World, kind: &str) -> Vec<String> {
    let dir = Path::new("teams/demo/artifacts").join(kind);
    world.memory.list(&dir).unwrap_or_default()
}

fn path(answer: &ArtifactPutAnswer) -> PathBuf {
    Path::new("teams/demo").join(&answer.artifact.path)
}

#[test]
fn what_was_left_comes_back_and_the_same_again_changes_nothing() {
    let (world, mut team) = demo();
    let bytes = vec![0, 159, 146, 150];
    let file = ArtifactFile::new(text("core.bin", ""), bytes.clone());
    let first = team.artifact_put_file(file.clone()).unwrap();
    assert!(first.stored);
    assert_eq!(
        (first.artifact.kind.name(), first.artifact.size),
        ("summaries", 4)
    );
    let (shown, back) = team.artifact_bytes(&get("core.bin")).unwrap();
    assert_eq!((shown, back), (first.artifact.clone(), bytes));
    assert_eq!(team.artifact_get(&get("core.bin")).unwrap().content, None);
    let before = events(&mut team).len();
    let again = team.artifact_put_file(file).unwrap();
    assert_eq!((again.stored, again.artifact), (false, first.artifact));
    assert_eq!(events(&mut team).len(), before);
    put(&mut team, "fix.patch", "--- a");
    assert_eq!(content(&mut team, "fix.patch"), "--- a");
    assert_eq!(files(&world, "patches").len(), 1);
    put(&mut team, "empty", "");
    assert_eq!(content(&mut team, "empty"), "");
    settled_digest(&mut team);
    // A rebuild does not touch artifacts.
    rehydrate(&mut team);
    assert_eq!(content(&mut team, "fix.patch"), "--- a");
}

#[test]
fn another_one_of_that_name_needs_to_be_told_so_and_the_first_stays_beside_it() {
    let (world, mut team) = demo();
    put(&mut team, "notes", "one");
    let refusal = refused(
        team.artifact_put(text("notes", "two")),
        Code::ArtifactExists,
    );
    assert!(refusal.details.contains_key("digest"));
    assert_eq!(files(&world, "summaries").len(), 1, "refused, not written");
    let two = given!(ArtifactPut, replace: true, kind: "patches", ..text("notes", "two"));
    let answer = team.artifact_put(two).unwrap();
    assert_eq!((answer.stored, answer.artifact.versions), (true, 2));
    assert_eq!(content(&mut team, "notes"), "two");
    assert_eq!(files(&world, "summaries").len(), 1);
    let list = |team: &mut Team, kind: &str| {
        let list = given!(ArtifactList, kind);
        let listed = team.artifact_list(&list).unwrap().artifacts;
        listed.into_iter().map(|one| one.name).collect::<Vec<_>>()
    };
    assert_eq!(list(&mut team, "summaries"), [""; 0]);
    assert_eq!(list(&mut team, "patches"), ["notes"]);
    settled_digest(&mut team);
}

#[test]
fn what_may_not_be_left() {
    let (_, mut team) = demo();
    let before = events(&mut team).len();
    for name in ["", "../x", "a/b", ".hidden", "-x", "a b", &"x".repeat(129)] {
        refused(team.artifact_put(text(name, "x")), Code::InvalidInput);
    }
    let large = vec![0; ARTIFACT_BYTES_MAX as usize + 1];
    let large = ArtifactFile::new(text("large", ""), large);
    refused(team.artifact_put_file(large), Code::TooLarge);
    let wrong = [
        (Some("binaries"), None, None, Code::InvalidInput),
        (None, Some("9"), None, Code::TaskNotFound),
        (None, None, Some("stranger"), Code::WorkerNotFound),
    ];
    for (kind, task, worker, code) in wrong {
        let put = given!(ArtifactPut, kind, task_id: task, worker, ..text("x", "x"));
        refused(team.artifact_put(put), code);
    }
    assert_eq!(events(&mut team).len(), before);
    refused(team.artifact_get(&get("x")), Code::ArtifactNotFound);
    let list = given!(ArtifactList, cursor: "x");
    refused(team.artifact_list(&list), Code::CursorUnknown);
}

#[test]
fn a_list_goes_on_where_the_page_before_ended() {
    let (_, mut team) = demo();
    for name in ["b", "a", "c.patch"] {
        put(&mut team, name, name);
    }
    let mut list = given!(ArtifactList, limit: 2);
    let page = team.artifact_list(&list).unwrap();
    assert_eq!(page.next_cursor.as_deref(), Some("b"));
    list.cursor = page.next_cursor;
    let rest = team.artifact_list(&list).unwrap();
    assert_eq!(
        (&*rest.artifacts[0].name, rest.next_cursor),
        ("c.patch", None)
    );
}

#[test]
fn a_file_that_is_not_what_was_left_is_told_and_mended_by_leaving_it_again() {
    let (world, mut team) = demo();
    let answer = put(&mut team, "notes", "one");
    let health = |team: &str| {
        let report = doctor(&world.root, team);
        let found = report
            .checks
            .into_iter()
            .find(|one| one.name == "artifacts");
        let found = found.unwrap();
        (json!(found.status), found.details["damaged"].clone())
    };
    assert_eq!(health("demo"), (json!("healthy"), json!(0)));
    for bytes in [Some(&b"onE"[..]), Some(b"on"), None] {
        match bytes {
            Some(bytes) => world.memory.replace(&path(&answer), bytes, false).unwrap(),
            None => world.memory.remove_file(&path(&answer)).unwrap(),
        }
        refused(team.artifact_get(&get("notes")), Code::ArtifactDamaged);
        assert_eq!(health("demo"), (json!("unhealthy"), json!(1)));
        assert!(!put(&mut team, "notes", "one").stored);
        assert_eq!(content(&mut team, "notes"), "one");
    }
}

#[test]
fn under_a_key_the_first_answer_is_given_again_whatever_came_after() {
    let (_, mut team) = team_of(None, Format::Binary);
    let keyed = |team: &mut Team, key: Option<&str>, put: ArtifactPut| {
        team.under(given!(Control, operation: "artifact-put",
            request: put.content.clone().into_bytes(), key));
        team.artifact_put(put)
    };
    let first = keyed(&mut team, Some("k"), text("n", "one")).unwrap();
    let two = given!(ArtifactPut, replace: true, ..text("n", "two"));
    keyed(&mut team, None, two).unwrap();
    assert_eq!(
        keyed(&mut team, Some("k"), text("n", "one")).unwrap(),
        first
    );
    assert_eq!(content(&mut team, "n"), "two");
    refused(
        keyed(&mut team, Some("k"), text("n", "three")),
        Code::IdempotencyKeyReused,
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Property: if the log names an artifact, its file is complete, whichever storage call fails.
    #[test]
    fn what_the_log_says_is_there_whatever_fails(call in 0..120_usize, replace in any::<bool>()) {
        let world = World::new();
        put(&mut world.demo(), "n", "one");
        let faulty = Faulty::new(world.memory.clone());
        let storage: Arc<dyn Storage> = Arc::new(faulty.clone());
        let root = Root::on(storage, world.root.options().clone());
        faulty.arm(call, Fault::Error(std::io::ErrorKind::Other));
        let outcome = root.team("demo").and_then(|mut team| {
            let name = if replace { "n" } else { "m" };
            team.artifact_put(ArtifactPut { replace, ..text(name, "two") })
        });
        drop(root);
        let mut team = world.root.team("demo").unwrap();
        for artifact in team.artifact_list(&ArtifactList::default()).unwrap().artifacts {
            let (_, bytes) = team.artifact_bytes(&get(&artifact.name)).unwrap();
            prop_assert!(bytes == b"one" || bytes == b"two");
        }
        if let Ok(answer) = outcome {
            prop_assert_eq!(content(&mut team, &answer.artifact.name), "two");
        } else if let Err(Failure::Refused(refusal)) = outcome {
            prop_assert!(false, "{refusal}");
        }
    }
}
