//! Tests of the view files of a team that stays open. The files are written after the answers of the commands, and are complete
//! before the team's lock is released.

use crate::prelude::*;
use teamlog_engine::internals::storage::Fault;
use teamlog_team::lifecycle::config::ConfigChange;

/// Creates a team that stays open, with two members and a task, on a storage that counts its calls.
fn staying() -> (Faulty, Root, Team) {
    staying_on(Memory::new())
}

fn staying_on(memory: Memory) -> (Faulty, Root, Team) {
    let faulty = Faulty::new(Arc::new(memory));
    let root = Root::on(Arc::new(faulty.clone()), RootOptions::default()).resident();
    let members = vec!["lead".to_owned(), "dev".to_owned()];
    root.init(given!(Init, team: "demo", members)).unwrap();
    let mut team = root.team("demo").unwrap();
    drop(team.task_assign(assign("T-1", "dev")).unwrap());
    (faulty, root, team)
}

fn status_in_file(storage: &dyn Storage) -> Option<String> {
    let text = storage.read("teams/demo/tasks/T-1.json".as_ref(), 1 << 20);
    let view: Value = serde_json::from_slice(&text.ok()?).unwrap();
    Some(view["status"].as_str().unwrap().to_owned())
}

fn lines_in_inbox(faulty: &Faulty) -> usize {
    let text = faulty.read("teams/demo/inboxes/lead.jsonl".as_ref(), 1 << 20);
    text.map_or(0, |text| text.split(|byte| *byte == b'\n').count() - 1)
}

fn await_status(faulty: &Faulty, status: &str) {
    until(&format!("the file says {status}"), || {
        status_in_file(faulty).as_deref() == Some(status)
    });
}

fn is_write_of_task((call, path): &(&'static str, PathBuf)) -> bool {
    *call == "rename" && path.ends_with("tasks/T-1.json.tmp")
}

#[test]
fn files_follow_the_answers_and_many_changes_are_one_write() {
    let (faulty, root, mut team) = staying();
    await_status(&faulty, "assigned");
    let before = faulty.count();
    for round in 0..100 {
        let status = if round % 2 == 0 {
            "blocked"
        } else {
            "in_progress"
        };
        drop(team.task_update(update("T-1", status)).unwrap());
    }
    drop(team.task_update(update("T-1", "blocked")).unwrap());
    await_status(&faulty, "blocked");
    let calls = faulty.calls();
    let written = calls[before..].iter().filter(|call| is_write_of_task(call));
    assert!(written.count() < 50);
    root.close().unwrap();
    assert_eq!(lines_in_inbox(&faulty), 101);
    assert_eq!(doctor(&root, "demo").overall_status, Health::Healthy);
}

#[test]
fn a_team_that_wants_it_has_its_files_before_the_answer() {
    let (faulty, _root, mut team) = staying();
    let key = "views.when";
    drop(
        team.config_change(given!(ConfigChange, key, value: "before_answer"))
            .unwrap(),
    );
    for status in ["blocked", "in_progress", "blocked"] {
        drop(team.task_update(update("T-1", status)).unwrap());
        assert_eq!(status_in_file(&faulty).as_deref(), Some(status));
    }
}

#[test]
fn files_are_whole_before_the_lock_is_given_back() {
    let (faulty, root, mut team) = staying();
    for status in ["blocked", "in_progress"].repeat(20) {
        drop(team.task_update(update("T-1", status)).unwrap());
    }
    root.close().unwrap();
    assert_eq!(status_in_file(&faulty).as_deref(), Some("in_progress"));
    assert_eq!(lines_in_inbox(&faulty), 40);
    // View files are also complete before a command on the whole log begins.
    drop(team.task_update(update("T-1", "blocked")).unwrap());
    let mut whole = root.team("demo").unwrap();
    let before = faulty.count();
    drop(
        whole
            .rehydrate(Rehydrate::default(), &mut |_, _| {})
            .unwrap(),
    );
    let calls = faulty.calls();
    let lock = calls[before..].iter().position(|(call, _)| *call == "lock");
    let written = calls[before..].iter().position(is_write_of_task);
    assert!(written < lock, "{written:?} {lock:?}");
    assert_eq!(status_in_file(&faulty).as_deref(), Some("blocked"));
}

#[test]
fn what_a_crash_left_behind_the_answers_is_mended_by_the_next_writer() {
    let memory = Memory::new();
    let (faulty, root, mut team) = staying_on(memory.clone());
    drop(team.task_update(update("T-1", "blocked")).unwrap());
    await_status(&faulty, "blocked");
    // The update comes during the pause after the previous batch.
    drop(team.task_update(update("T-1", "in_progress")).unwrap());
    drop(team.send(message("dev", "lead")).unwrap());
    faulty.arm(faulty.count(), Fault::Stop);
    drop((team, root));
    let root = Root::on(Arc::new(memory.clone()), RootOptions::default());
    let mut team = root.team("demo").unwrap();
    drop(team.send(message("lead", "dev")).unwrap());
    assert_eq!(status_in_file(&memory).as_deref(), Some("in_progress"));
    assert_eq!(doctor(&root, "demo").overall_status, Health::Healthy);
}
