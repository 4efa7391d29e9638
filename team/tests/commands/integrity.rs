//! Tests of the results of the last checks, of receipts that are checked later, and of `read-storage`.

use crate::prelude::*;
use teamlog_engine::{ManualClock, SeededIds};
use teamlog_team::SecretKey;
use teamlog_team::integrity::CheckState;
use teamlog_team::integrity::doctor::{DoctorLast, DoctorStart};
use teamlog_team::integrity::verify::{VerifyLast, VerifyStart};
use teamlog_team::lifecycle::storage::ReadStorage;
use teamlog_team::receipt::check::{CheckReceipt, CheckedReceipt};
use teamlog_team::receipt::head::ReadHead;

const VERIFIED: &str = "teams/demo/derived/verify.json";

/// Creates a team whose log has several segments.
fn segmented() -> (Root, Arc<Memory>, Team) {
    let memory = Arc::new(Memory::new());
    let options = RootOptions {
        clock: Arc::new(ManualClock::new(time(NOON))),
        ids: Arc::new(SeededIds(7.into())),
        segment_bytes_max: 4_096,
        ..RootOptions::default()
    };
    let root = Root::on(memory.clone(), options);
    root.init(Init::for_team("demo")).unwrap();
    let mut team = root.team("demo").unwrap();
    for number in 0..60 {
        team.task_assign(assign(&format!("t{number}"), "dev"))
            .unwrap();
    }
    (root, memory, team)
}

fn segments(team: &mut Team) -> Vec<(PathBuf, u64, u64)> {
    let shown = team.read_storage(ReadStorage {}).unwrap();
    let segments = shown.log.segments.iter();
    let segments = segments.map(|one| {
        let path = Path::new("teams/demo").join(&one.file);
        (path, one.first_seq, one.last_seq)
    });
    segments.collect()
}

#[test]
fn the_last_verification_is_told_with_its_time_and_forgotten_with_its_file() {
    let world = World::new();
    let mut team = world.demo();
    let never = team.verify_last(VerifyLast {}).unwrap();
    assert_eq!(never.state, CheckState::Never);
    assert_eq!((never.ok, never.finished_at), (None, None));
    world.later(MINUTE);
    let done = team.verify_start(VerifyStart {}).unwrap();
    let now = Some(time("2026-11-21T12:01:00.000000Z"));
    assert_eq!(
        (done.state, done.ok, done.finished_at),
        (CheckState::Done, Some(true), now)
    );
    assert_eq!(done.events, Some(status(&mut team).last_seq));
    world.later(MINUTE);
    assert_eq!(team.verify_last(VerifyLast {}).unwrap(), done);
    // A check of the receipt finds the damage, and says in which file and at which event it is.
    let (segment, ..) = segments(&mut team).remove(0);
    world.memory.corrupt(&segment, 300, 0x20).unwrap();
    assert_eq!(team.verify_last(VerifyLast {}).unwrap(), done);
    let report = team.verify_noting(&mut |_, _| {}).unwrap();
    let damaged = team.verify_last(VerifyLast {}).unwrap();
    assert_eq!(
        (damaged.ok, &damaged.problems),
        (Some(false), &report.problems)
    );
    assert_ne!(damaged.problems, []);
    // Cases of the result file: it is missing, it belongs to another log, or it does not parse.
    let kept = world.memory.read(Path::new(VERIFIED), 1 << 20).unwrap();
    world.root.init(Init::for_team("other")).unwrap();
    let mut other = world.root.team("other").unwrap();
    let derived = Path::new("teams/other/derived");
    world.memory.create_dir_all(derived).unwrap();
    world
        .memory
        .replace(&derived.join("verify.json"), &kept, false)
        .unwrap();
    assert_eq!(
        other.verify_last(VerifyLast {}).unwrap().state,
        CheckState::Never
    );
    for broken in [&b"{}"[..], b"no json"] {
        world
            .memory
            .replace(Path::new(VERIFIED), broken, false)
            .unwrap();
        assert_eq!(team.verify_last(VerifyLast {}).unwrap(), never);
    }
    world.memory.remove_file(Path::new(VERIFIED)).unwrap();
    assert_eq!(team.verify_last(VerifyLast {}).unwrap(), never);
}

#[test]
fn a_check_that_cannot_keep_its_result_is_none_the_worse() {
    let world = World::new();
    let mut team = world.demo();
    let derived = Path::new("teams/demo/derived");
    let _ = world.memory.remove_dir_all(derived);
    world.memory.replace(derived, b"in the way", false).unwrap();
    assert!(team.verify_noting(&mut |_, _| {}).unwrap().ok);
    assert_eq!(
        team.verify_last(VerifyLast {}).unwrap().state,
        CheckState::Never
    );
}

#[test]
fn progress_counts_the_bytes_of_all_segments() {
    let (_, _, team) = segmented();
    let mut told = Vec::new();
    let report = team
        .verify_noting(&mut |done, all| told.push((done, all)))
        .unwrap();
    assert!(report.segments > 2, "{report:?}");
    assert_eq!(told.len() as u64, report.segments + 1);
    assert_eq!(told.first().unwrap().0, 0);
    assert_eq!(told.last().unwrap().0, report.bytes);
    assert!(told.windows(2).all(|pair| pair[0].0 < pair[1].0));
    assert!(told.iter().all(|(done, all)| done <= all));
}

#[test]
fn the_last_look_at_everything_is_told_with_what_mends_it() {
    let world = World::new();
    let mut team = world.demo();
    assert_eq!(
        team.doctor_last(DoctorLast {}).unwrap().state,
        CheckState::Never
    );
    let done = team.doctor_start(DoctorStart {}).unwrap();
    assert_eq!((done.state, done.healthy), (CheckState::Done, Some(true)));
    let answer = doctor(&world.root, "demo");
    let names: Vec<&str> = answer.checks.iter().map(|check| check.name).collect();
    assert!(done.checks.iter().map(|check| &*check.name).eq(names));
    let (segment, ..) = segments(&mut team).remove(0);
    world.memory.corrupt(&segment, 300, 0x20).unwrap();
    let damaged = team.doctor_start(DoctorStart {}).unwrap();
    assert_eq!(damaged.healthy, Some(false));
    let check = damaged
        .checks
        .iter()
        .find(|check| check.name == "segments")
        .unwrap();
    assert_eq!(check.status, Health::Unhealthy);
    assert_eq!(
        check.hint.as_deref(),
        Some("teamlog rehydrate demo --salvage")
    );
    assert_eq!(team.doctor_last(DoctorLast {}).unwrap(), damaged);
}

fn check(team: &mut Team, receipt: &Value) -> CheckedReceipt {
    let receipt = receipt.as_object().unwrap().clone();
    team.check_receipt(CheckReceipt { receipt }).unwrap()
}

fn why(checked: &CheckedReceipt) -> (&str, Option<&str>, Option<u64>) {
    let problem = checked.problem.as_ref().unwrap();
    assert!(!checked.holds && !problem.message.is_empty());
    (&problem.kind, problem.file.as_deref(), problem.seq)
}

#[test]
fn a_receipt_holds_until_something_that_it_covers_changes() {
    let (_, memory, mut team) = segmented();
    let early = json(&team.read_head(ReadHead::default()).unwrap());
    let seq = early["seq"].as_u64().unwrap();
    for number in 0..30 {
        team.task_assign(assign(&format!("u{number}"), "dev"))
            .unwrap();
    }
    let all = segments(&mut team);
    let checked = check(&mut team, &early);
    assert!(checked.holds && checked.problem.is_none() && checked.signed_by.is_none());
    assert_eq!(checked.seq, seq);
    // A receipt stays valid if an event after the receipt is changed.
    let (behind, first, _) = all.last().unwrap();
    assert!(*first > seq);
    memory.corrupt(behind, 600, 0x20).unwrap();
    assert!(!team.verify(None).unwrap().ok);
    assert!(check(&mut team, &early).holds);
    memory.corrupt(behind, 600, 0x20).unwrap();
    // Changes one byte in each segment that the receipt covers, one segment at a time.
    for (path, first, last) in all.iter().filter(|(_, first, _)| *first <= seq) {
        memory.corrupt(path, 1_500, 0x20).unwrap();
        let checked = check(&mut team, &early);
        let (kind, file, changed) = why(&checked);
        assert_eq!(kind, "damaged_event", "{checked:?}");
        assert!(path.ends_with(file.unwrap()), "{checked:?}");
        assert!((*first..=*last).contains(&changed.unwrap()), "{checked:?}");
        memory.corrupt(path, 1_500, 0x20).unwrap();
        assert!(check(&mut team, &early).holds);
    }
    // After an older copy of the log was restored, the receipt's segment has other bytes, or is too
    // short.
    let (own, first, _) = all.iter().rfind(|(_, first, _)| *first <= seq).unwrap();
    let mut other = early.clone();
    other["digest"] = "0".repeat(64).into();
    let file = own.strip_prefix("teams/demo").unwrap().to_str();
    assert_eq!(
        why(&check(&mut team, &other)),
        ("changed_since_receipt", file, Some(*first))
    );
    let mut longer = early.clone();
    longer["length"] = (1_u64 << 40).into();
    assert_eq!(why(&check(&mut team, &longer)).0, "cut_below_receipt");
    let mut foreign = early;
    foreign["log"] = "00000000-0000-4000-8000-000000000000".into();
    assert_eq!(
        why(&check(&mut team, &foreign)),
        ("receipt_of_another_log", None, None)
    );
}

#[test]
fn who_signed_a_receipt_is_said_and_a_changed_one_does_not_hold() {
    let world = World::new();
    let mut team = world.demo();
    let key = SecretKey::from_seed([7; 32]);
    let signed = json(&team.head().unwrap().signed(&key));
    let checked = check(&mut team, &signed);
    assert!(checked.holds);
    assert_eq!(checked.signed_by, Some(key.public().hex()));
    // Any answer with a receipt in its field `receipt` is accepted.
    assert!(check(&mut team, &json!({"receipt": signed})).holds);
    for (field, value) in [
        ("seq", json!(99)),
        ("signature", json!("0".repeat(128))),
        ("public_key", json!("f".repeat(64))),
        ("public_key", json!("ada")),
    ] {
        let mut changed = signed.clone();
        changed[field] = value;
        let checked = check(&mut team, &changed);
        assert_eq!(why(&checked), ("signature_invalid", None, None), "{field}");
        assert_eq!(checked.signed_by, None);
    }
    let none = CheckReceipt::default();
    refused(team.check_receipt(none), Code::InvalidInput);
    let asked = ReadHead { sign: Some(true) };
    refused(team.read_head(asked), Code::InvalidInput);
}

#[test]
fn the_segments_are_told_with_their_events_and_bytes() {
    let (_, _, mut team) = segmented();
    team.finish().unwrap();
    let shown = team.read_storage(ReadStorage {}).unwrap();
    let report = team.verify(None).unwrap();
    assert_eq!(shown.log.segments.len() as u64, report.segments);
    assert_eq!(shown.log.bytes, report.bytes);
    assert_eq!((shown.disk, shown.backups.len()), (None, 0));
    assert!(shown.derived_bytes > 0);
    let mut next = 1;
    for segment in &shown.log.segments {
        assert_eq!(segment.first_seq, next);
        next = segment.last_seq + 1;
        assert_eq!(segment.sealed, segment.last_seq != report.last_seq);
    }
    assert_eq!(next, report.last_seq + 1);
}

#[test]
fn damaged_bytes_get_no_receipt() {
    for format in [Format::Jsonl, Format::Binary] {
        let (world, mut team) = team_of(Some(&["lead", "dev"]), format);
        drop(team.send(message("lead", "dev")).unwrap());
        let receipt = team.head().unwrap().receipt;
        let segment = team.log().dir().join("events").join(&receipt.segment);
        world
            .memory
            .corrupt(&segment, receipt.length - 40, 1)
            .unwrap();
        let failure = team.head().unwrap_err();
        shows!(failure.to_string() => has "is damaged at byte");
    }
}
