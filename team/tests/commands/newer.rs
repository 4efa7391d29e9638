//! Tests of logs that a newer teamlog wrote: unknown events are reported, earlier events are
//! readable, and nothing is written.

use crate::prelude::*;
use teamlog_engine::Point;
use teamlog_engine::{Error, Json, Log, LogOptions, NewEvent};
use teamlog_team::failure::code_of;

const FORMATS: [Format; 2] = [Format::Jsonl, Format::Binary];

/// Creates a team with three messages of one trace, followed by an event of a newer version.
fn of_a_newer_version(format: Format, kind: &'static str, schema_version: u32) -> World {
    let (world, mut team) = team_of(Some(&["lead", "dev", "qa"]), format);
    for _ in 0..3 {
        world.later(SECOND);
        let told = given!(Send, trace_id: "tr", ..message("lead", "dev"));
        team.send(told).unwrap();
    }
    drop(team);
    let options = given!(LogOptions, clock: world.root.options().clock.clone());
    let log = Log::open(world.memory.clone(), Path::new("teams/demo"), options).unwrap();
    let payload = Json::from_value(&serde_json::json!({"name": "anew", "message": 7})).unwrap();
    let mut newer = NewEvent::new(kind, "lead", payload).with_ref(RefKind::Trace, "tr");
    newer.schema_version = schema_version;
    let writer = log.lock().unwrap().into_writer(());
    writer.append(vec![newer], Durability::Synced).unwrap();
    writer.close().unwrap();
    world
}

#[test]
fn a_log_of_a_newer_teamlog_says_so_and_reads_up_to_there() {
    for (format, kind, version) in FORMATS
        .into_iter()
        .flat_map(|format| [(format, "team_renamed", 1), (format, "message_sent", 2)])
    {
        let world = of_a_newer_version(format, kind, version);
        let open = || world.root.team("demo").unwrap();
        let newer = |outcome: Result<(), teamlog_team::Failure>| {
            let failure = outcome.unwrap_err();
            let error = failure.engine().unwrap();
            assert!(
                matches!(error, Error::Newer { seq: 5, kind: told, .. } if told == kind),
                "{failure}"
            );
            assert_eq!(code_of(error), "newer_log");
            shows!(failure.to_string() => has "written by a newer teamlog");
        };
        newer(open().status(Default::default()).map(drop));
        newer(open().tasks(Default::default()).map(drop));
        newer(
            open()
                .rehydrate(Rehydrate::default(), &mut |_, _| {})
                .map(drop),
        );
        let before = world.memory.snapshot();
        newer(open().send(message("lead", "dev")).map(drop));
        newer(open().tick(Tick::default()).map(drop));
        for name in world.memory.list(Path::new("teams/demo/events")).unwrap() {
            let path = Path::new("teams/demo/events").join(name);
            let [now, then] =
                [&*world.memory, &before].map(|memory| memory.read(&path, 1 << 20).unwrap());
            assert_eq!(*now, *then, "nothing is written");
        }
        let fault = api::call(
            &world.root,
            api::find("get-summary").unwrap(),
            Map::from_iter([("team_name".to_owned(), "demo".into())]),
            Control::default(),
        );
        assert_eq!(json(&fault.unwrap_err())["details"]["code"], "newer_log");

        // Queries of the past and readers of the log read the earlier events.
        let mut past = open().at(Point::Seq(4)).unwrap();
        let found = status(&mut past);
        assert_eq!((found.last_seq, found.message_count), (4, 3));
        let mut team = open();
        let report = team.verify(None).unwrap();
        assert_eq!((report.ok, report.events), (true, 5));
        assert_eq!(team.head().unwrap().receipt.seq, 5);
        assert_eq!(kinds(&mut team).last().unwrap(), kind);
        let mut replayed = |replay: Replay| {
            let mut seqs = Vec::new();
            let each: &mut dyn FnMut(&teamlog_engine::Event<'_>, &[u8]) -> _ = &mut |event, _| {
                seqs.push(event.seq);
                std::ops::ControlFlow::Continue(())
            };
            team.replay(replay, each).unwrap();
            seqs
        };
        let story = given!(Replay, trace_id: "tr");
        assert_eq!(replayed(story), [2, 3, 4, 5]);
        let late = given!(Replay, since: time("2026-11-21T12:00:02.5Z"));
        assert_eq!(replayed(late), [4, 5]);
    }
}

#[test]
fn a_foreign_event_of_any_kind_and_version_is_none_of_a_newer_teamlog() {
    let (_, mut team) = demo();
    let log = team.log().clone();
    let mut foreign = NewEvent::new(
        "team_renamed",
        "lead",
        Json::from_value(&serde_json::json!({})).unwrap(),
    );
    foreign.schema_version = 9;
    foreign.foreign = true;
    let writer = log.lock().unwrap().into_writer(());
    writer.append(vec![foreign], Durability::Synced).unwrap();
    writer.close().unwrap();
    assert_eq!(status(&mut team).events, 2);
    team.send(message("lead", "dev")).unwrap();
}
