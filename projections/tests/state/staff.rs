//! Tests of workers and their supervision: the rows, and the files that show them.

use crate::support::*;
use std::path::Path;
use teamlog_projections::worker::event::{StatusChange, WorkerState, inbox_content};
use teamlog_projections::worker::supervision::{Baseline, Baselines};

const PARTS: [&str; 6] = [
    "heartbeat.json",
    "identity.json",
    "inbox.md",
    "shutdown-ack.json",
    "shutdown-request.json",
    "status.json",
];

/// Returns a team that knows every part of the worker `dev`.
fn staffed_team() -> Team {
    let team = Team::new();
    for what in 0..13 {
        team.append(vec![staffed(what, "dev", 3)]);
    }
    team
}

#[test]
fn the_last_word_of_each_sort_counts_and_names_its_event() {
    let team = staffed_team();
    team.append(vec![staffed(1, "dev", 0), staffed(3, "qa", 0)]);
    let live = team.live();
    let identity = live.identity("dev").unwrap().unwrap();
    assert_eq!((identity.what.role.as_str(), identity.seq), ("role 3", 2));
    let heartbeat = live.heartbeat("dev").unwrap().unwrap();
    assert_eq!(
        (heartbeat.what.turn_count, heartbeat.what.alive),
        (0, false)
    );
    assert_eq!((heartbeat.seq, heartbeat.at), (15, heartbeat_time(&team)));
    let status = live.worker_status("dev").unwrap().unwrap();
    assert_eq!((status.what.state, status.seq), (WorkerState::Done, 6));
    let inbox = live.worker_inbox("dev").unwrap().unwrap();
    let event = live.event(&team.log.reader().unwrap(), inbox).unwrap();
    assert_eq!(inbox_content(&event.unwrap()).unwrap(), "# do 3");
    assert_eq!(live.shutdown_request("dev").unwrap().unwrap().seq, 8);
    assert_eq!(live.shutdown_ack("dev").unwrap().unwrap().seq, 9);
    let approval = live.approval("3").unwrap().unwrap();
    assert_eq!(approval.what.decision_reason, "because 3");
    assert_eq!(live.monitor_snapshot().unwrap(), Some(11));
    assert_eq!(live.baseline("dev").unwrap().unwrap().what.turn_count, 3);
    assert_eq!(live.phase().unwrap().unwrap().what, "b 3");
    assert_eq!(live.identity("qa").unwrap(), None);
    assert_eq!(live.last_idle("qa").unwrap(), Some(16), "by its status");
    assert_eq!(live.last_idle("dev").unwrap(), Some(14), "by its report");
}

fn heartbeat_time(team: &Team) -> teamlog_engine::Timestamp {
    let live = team.live();
    let event = live.event(&team.log.reader().unwrap(), 15).unwrap();
    event.unwrap().created_at
}

#[test]
fn a_baseline_that_did_not_move_stays() {
    let team = Team::new();
    let of = |workers: &[(&str, u32)]| {
        let workers = workers.iter().map(|(name, turn_count)| {
            let baseline = given!(Baseline; turn_count: *turn_count, task_id: None::<String>);
            ((*name).to_owned(), baseline)
        });
        Baselines {
            workers: workers.collect(),
        }
        .event("lead")
    };
    team.append(vec![of(&[("dev", 1), ("qa", 2)]), of(&[("dev", 5)])]);
    let turns = |worker| {
        team.live()
            .baseline(worker)
            .unwrap()
            .unwrap()
            .what
            .turn_count
    };
    assert_eq!((turns("dev"), turns("qa")), (5, 2));
}

#[test]
fn what_comes_from_outside_is_read_as_far_as_it_goes() {
    let team = Team::new();
    for payload in [
        r#"{"type":"worker_idle","worker":"../x"}"#,
        r#"{"type":"worker_idle"}"#,
        r#"{"type":7,"worker":[],"state":{}}"#,
        r#"{"type":"worker_state_changed","worker":"qa","state":"asleep"}"#,
        r#"{"type":"worker_state_changed","worker":"qa","state":"working"}"#,
        "[]",
    ] {
        team.append(vec![reported(payload)]);
        let live = team.live();
        for worker in ["../x", "", "qa"] {
            assert_eq!(live.last_idle(worker).unwrap(), None, "{payload}");
        }
    }
    team.append(vec![
        reported(r#"{"type":"worker_state_changed","worker":"qa","state":"idle"}"#),
        reported(r#"{"type":"all_workers_idle","worker":"qa","worker_count":2}"#),
        reported(r#"{"type":"worker_stopped","worker":"qa"}"#),
    ]);
    let live = team.live();
    assert_eq!(live.last_idle("qa").unwrap(), Some(8));
    assert_eq!(live.last_reported("all_workers_idle").unwrap(), Some(9));
    assert_eq!(live.last_reported("worker_stopped").unwrap(), None);
    assert!(
        live.worker_status("qa").unwrap().is_none(),
        "a report is no status"
    );
}

#[test]
fn a_worker_whose_name_leads_elsewhere_is_not_decoded() {
    for what in [0, 1, 3, 5, 6, 7] {
        let team = Team::new();
        team.force(vec![staffed(what, "../../x", 1)]);
        team.load_error();
    }
}

#[test]
fn each_part_has_a_file_that_follows_it() {
    let team = staffed_team();
    let names = team.storage.list(&team.path("workers/dev")).unwrap();
    assert_eq!(names, PARTS);
    assert_eq!(team.view("workers/dev/inbox.md"), "# do 3");
    let identity = team.json("workers/dev/identity.json");
    has!(identity, {"name": "dev", "index": 3, "seq": 2, "schemaVersion": "1.0.0"});
    let shown = team.json("team.json");
    let agents = shown["agents"].as_array().unwrap();
    let ids = agents.iter().map(|agent| &agent["id"]);
    assert!(ids.eq(shown["members"].as_array().unwrap()), "{shown}");
    let of = |id: &str| agents.iter().find(|agent| agent["id"] == id).unwrap();
    assert_eq!(of("dev")["role"], "role 3");
    assert_eq!(of("qa"), &serde_json::json!({"id": "qa", "role": "worker"}));
    assert_eq!(shown["seq"], identity["seq"]);
    assert!(
        identity.get("pid").is_none(),
        "what is not known is left out"
    );
    let status = team.json("workers/dev/status.json");
    has!(status, {"state": "done", "current_task_id": "3", "seq": 6});
    team.append(vec![
        given!(StatusChange; state: WorkerState::Idle, prev_state: WorkerState::Done,
            current_task_id: None::<String>, reason: None::<String>)
        .event("dev", None),
    ]);
    let status = team.json("workers/dev/status.json");
    has!(status, {"state": "idle", "seq": 15});
    assert!(status.get("current_task_id").is_none());
    assert_eq!(team.rebuilt().0.written, 0);
    assert_eq!(team.faults(), []);
}

#[test]
fn lost_and_damaged_files_are_told_and_mended() {
    let whole = staffed_team();
    for damage in 0..5 {
        let team = staffed_team();
        let remove = |name: &str| team.storage.remove_dir_all(&team.path(name)).unwrap();
        let file = "workers/dev/status.json";
        let told = match damage {
            0 => {
                team.storage.remove_file(&team.path(file)).unwrap();
                vec![(file.to_owned(), "missing")]
            }
            1 => {
                let path = team.path(file);
                team.storage.replace(&path, b"{}", false).unwrap();
                vec![(file.to_owned(), "differs")]
            }
            2 => {
                let extra = team.path("workers/dev/notes.txt");
                team.storage.replace(&extra, b"x", false).unwrap();
                vec![("workers/dev/notes.txt".to_owned(), "unknown")]
            }
            3 => {
                remove("workers/dev");
                let all = PARTS.map(|part| (format!("workers/dev/{part}"), "missing"));
                all.to_vec()
            }
            _ => {
                team.storage
                    .create_dir(&team.path("workers/nobody"))
                    .unwrap();
                vec![("workers/nobody".to_owned(), "unknown")]
            }
        };
        let mut found = team.faults();
        found.sort();
        assert_eq!(found, told, "{damage}");
        let mended = team.rebuilt().0;
        assert_eq!(mended.written + mended.removed, told.len() as u64);
        assert_eq!(team.views(), whole.views(), "{damage}");
    }
}

#[test]
fn the_next_word_of_a_worker_brings_back_its_lost_directory() {
    for dir in ["workers", "workers/dev"] {
        let team = staffed_team();
        team.storage.remove_dir_all(&team.path(dir)).unwrap();
        team.append(vec![staffed(1, "qa", 1)]);
        let there = team.storage.stat(&team.path("workers/dev")).unwrap();
        assert_eq!(there.is_some(), dir == "workers", "nobody touched dev");
        team.append(vec![staffed(1, "dev", 1)]);
        assert_eq!(team.storage.list(&team.path("workers/dev")).unwrap(), PARTS);
        assert_eq!(team.faults(), []);
    }
}

#[test]
fn a_crash_behind_the_head_leaves_what_the_next_writer_mends() {
    let team = staffed_team();
    let exclusive = team.log.lock().unwrap();
    let live = Live::load(&team.log, &exclusive.reader()).unwrap();
    let writer = exclusive.into_writer(live);
    commit(&writer, vec![staffed(5, "dev", 9), staffed(0, "qa", 1)]);
    writer.close().unwrap();
    assert_eq!(team.view("workers/dev/inbox.md"), "# do 3");
    team.append(vec![foreign("seen")]);
    assert_eq!(team.view("workers/dev/inbox.md"), "# do 9");
    assert_eq!(team.json("workers/qa/identity.json")["role"], "role 1");
}

#[test]
fn closing_a_team_removes_its_views_and_keeps_its_log() {
    let team = staffed_team();
    team.send(&[assign("m1", "1", "dev", 1, "{}")]);
    assert!(team.views().len() > 7);
    team.append(vec![closed()]);
    assert!(team.views().is_empty(), "{:?}", team.views());
    let mut names = team.storage.list(Path::new("teams/demo")).unwrap();
    names.retain(|name| ["workers", "tasks", "inboxes", "views", "dead-letter"].contains(&&**name));
    assert!(names.is_empty(), "{names:?}");
    let live = team.live();
    assert!(live.team().unwrap().unwrap().closed_at.is_some());
    assert!(
        live.identity("dev").unwrap().is_some(),
        "what is known stays"
    );
    assert_eq!(team.faults(), []);
    // Neither a later event nor a rebuild restores the files.
    team.append(vec![foreign("seen")]);
    let (mended, digest) = team.rebuilt();
    assert_eq!(
        (mended, digest),
        (ViewUpdate::default(), team.live().digest().unwrap())
    );
    assert!(team.views().is_empty());
}

#[test]
fn views_that_a_crash_left_in_a_closed_team_go_with_the_next_writer() {
    for rebuild in [false, true] {
        let team = staffed_team();
        let exclusive = team.log.lock().unwrap();
        let live = Live::load(&team.log, &exclusive.reader()).unwrap();
        let writer = exclusive.into_writer(live);
        commit(&writer, vec![closed()]);
        writer.close().unwrap();
        assert_eq!(team.views().len(), 7, "six parts and team.json");
        let told = team.faults();
        assert!(
            told.contains(&("workers/dev".to_owned(), "unknown")),
            "{told:?}"
        );
        match rebuild {
            true => assert_eq!(team.rebuilt().0.removed, 7),
            false => team.append(vec![foreign("seen")]),
        }
        assert!(team.views().is_empty(), "{rebuild}");
        assert_eq!(team.faults(), []);
    }
}

#[test]
fn a_team_without_views_gets_no_files_of_workers() {
    let team = Team::empty(Format::Binary);
    team.append(vec![created(&["lead", "dev"], false)]);
    team.append(vec![staffed(5, "dev", 1)]);
    team.rebuilt();
    assert!(team.views().is_empty());
}
