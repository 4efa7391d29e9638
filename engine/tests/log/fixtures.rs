//! Tests of golden directories. Logs of every released format version can always be opened, and damage is always reported under
//! its name.
//!
//! `fixtures/README.md` describes how each directory was made. The tests open a copy.

use crate::support::*;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures")
}

/// The sets of fixtures: a format version and a format.
const SETS: [(u32, Format); 3] = [(1, Format::Jsonl), (1, Format::Binary), (2, Format::Binary)];

fn name((version, format): (u32, Format), state: &str) -> String {
    format!("v{version}-{}-{state}", format.name())
}

/// Opens a copy of the fixture as a log.
fn opened(fixture: &str) -> (tempfile::TempDir, Log) {
    let copy = tempfile::tempdir().unwrap();
    copy_dir(&fixtures().join(fixture), copy.path());
    let storage: Arc<dyn Storage> = Arc::new(Files::open(copy.path()).unwrap());
    let log = Log::open(storage, &dir(), options().1).unwrap();
    (copy, log)
}

fn public(log: &Log) -> Vec<u8> {
    let mut lines = Vec::new();
    for event in events(log) {
        teamlog_engine::internals::codec::public_json(&event, &mut lines);
        lines.push(b'\n');
    }
    lines
}

#[test]
fn a_healthy_log_reads_as_it_always_did() {
    let expected = std::fs::read(fixtures().join("v1-events.jsonl")).unwrap();
    for set in SETS {
        let (_copy, log) = opened(&name(set, "healthy"));
        assert_eq!((log.identity().version, log.identity().format), set);
        assert!(log.lock().unwrap().recovered().is_empty());
        assert_eq!(public(&log), expected, "{set:?}");
        let report = log.verify(None).unwrap();
        assert!(report.ok && report.problems.is_empty(), "{report:?}");
        assert!(report.segments >= 3, "{report:?}");
        assert_eq!(report.events, 40);
    }
}

#[test]
fn a_torn_tail_is_set_aside() {
    for set in SETS {
        let (copy, log) = opened(&name(set, "torn"));
        let report = log.verify(None).unwrap();
        assert!(report.ok, "{report:?}");
        assert_eq!(report.problems[0].kind, "torn_tail");
        assert_eq!(log.lock().unwrap().recovered().len(), 1);
        let expected = std::fs::read(fixtures().join("v1-events.jsonl")).unwrap();
        assert!(public(&log).starts_with(&expected));
        assert_eq!(events(&log).last().unwrap().kind, "log_tail_quarantined");
        assert_eq!(
            std::fs::read_dir(copy.path().join("teams/demo/quarantine"))
                .unwrap()
                .count(),
            1
        );
    }
}

#[test]
fn damage_in_the_middle_is_named() {
    for set in SETS {
        let (_copy, log) = opened(&name(set, "damaged"));
        let report = log.verify(None).unwrap();
        assert!(!report.ok);
        assert_eq!(report.problems[0].kind, "damaged_event", "{report:?}");
        let problem = &report.problems[0];
        shows!(problem.file => starts "events/2026-11-21.x001.");
        let error = log
            .reader()
            .unwrap()
            .events(None)
            .find_map(Result::err)
            .unwrap();
        let Error::Corrupt { offset, path, .. } = &error else {
            panic!("{error}")
        };
        assert!(path.to_string_lossy().ends_with(&problem.file), "{error}");
        assert!(
            *offset > 0 && *offset <= problem.offset,
            "{error} {problem:?}"
        );
    }
}

/// A killed writer leaves zeros after its last segment.
#[test]
fn zeros_ahead_are_nothing() {
    let (copy, log) = opened("v2-binary-killed");
    let path = copy.path().join("teams/demo/events/2026-11-22.tlog");
    let len = || std::fs::metadata(&path).unwrap().len();
    let report = log.verify(None).unwrap();
    assert!(report.ok && report.problems.is_empty(), "{report:?}");
    let expected = std::fs::read(fixtures().join("v1-events.jsonl")).unwrap();
    assert_eq!(public(&log), expected);
    let lock = log.lock().unwrap();
    assert!(lock.recovered().is_empty() && len() == lock.head().end);
}

/// Creates the fixtures of the current format version. Run it by hand once per version: `cargo test -p teamlog-engine --test log
/// -- --ignored fixtures::make`.
#[test]
#[ignore = "writes into fixtures/"]
fn make() {
    for format in FORMATS {
        let set = (format.version(), format);
        let healthy = fixtures().join(name(set, "healthy"));
        if healthy.exists() {
            continue;
        }
        std::fs::create_dir_all(&healthy).unwrap();
        let storage: Arc<dyn Storage> = Arc::new(Files::open(&healthy).unwrap());
        let (clock, options) = options();
        let log = create(
            &storage,
            format,
            &given!(LogOptions, segment_bytes_max: 4_000, ..options),
        );
        let writer = writer(&log);
        for n in 0..20u64 {
            clock.advance(if n == 15 { 86_400_000_000 } else { 61_000_000 });
            writer
                .append(
                    vec![said(&format!("number {n}")), varied(n)],
                    Durability::Synced,
                )
                .unwrap();
        }
        writer.close().unwrap();
        for state in ["torn", "damaged", "killed"] {
            copy_dir(&healthy, &fixtures().join(name(set, state)));
        }
        let segment = |state: &str, segment: &str| {
            fixtures()
                .join(name(set, state))
                .join("teams/demo/events")
                .join(format!("{segment}.{}", format.extension()))
        };
        let torn = segment("torn", "2026-11-22");
        let mut bytes = std::fs::read(&torn).unwrap();
        let half = bytes[bytes.len() - 150..].to_vec();
        bytes.extend_from_slice(&half[..70]);
        bytes.resize(bytes.len() + 4_096, 0);
        std::fs::write(&torn, bytes).unwrap();
        let killed = segment("killed", "2026-11-22");
        let mut bytes = std::fs::read(&killed).unwrap();
        bytes.resize(bytes.len() + 4_096, 0);
        std::fs::write(&killed, bytes).unwrap();
        let damaged = segment("damaged", "2026-11-21.x001");
        let mut bytes = std::fs::read(&damaged).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 0x04;
        std::fs::write(&damaged, bytes).unwrap();
    }
}

/// Returns an event with every field, escapes and a foreign mark.
fn varied(n: u64) -> NewEvent {
    let payload = teamlog_engine::Json::parse(
        r#"{"text":"\"quoted\" ünï\ncode","n":1e3,"deep":[[{}]],"none":null}"#,
    )
    .unwrap();
    let mut event = NewEvent::new("weather_seen", "dev", payload);
    for (at, kind) in teamlog_engine::Ref::ALL
        .into_iter()
        .enumerate()
        .filter(|(at, _)| (n >> at) & 1 == 1)
    {
        event.refs.set(kind, format!("ref {at} \"{n}\" \\ é"));
    }
    event.foreign = n.is_multiple_of(2);
    event.schema_version = 1 + n as u32 % 3;
    event.cause = Some(teamlog_engine::Cause::Earlier(0));
    event
}

#[test]
fn times_in_the_fixture_are_those_of_its_clock() {
    let (_copy, log) = opened(&name(SETS[0], "healthy"));
    let first = events(&log).remove(0).created_at;
    assert_eq!(first, Timestamp::parse("2026-11-21T10:01:01Z").unwrap());
}
