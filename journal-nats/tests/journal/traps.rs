//! What a server does, or is told, by which a journal on it would promise more than it keeps.

use crate::cluster::{Cluster, Settings};
use crate::conformance::{behind, group, identity, one};
use crate::nats::journal;
use crate::raw::Raw;
use async_nats::HeaderMap;
use serde_json::{Value, json};
use std::thread;
use std::time::Duration;
use teamlog_engine::identity::LogId;
use teamlog_engine::journal::{
    Append, GroupDigest, Journals, LogState, Outcome, Position, ReadError, Way,
};
use teamlog_engine::{Error, JournalFault};
use teamlog_journal_nats::{Config, NatsJournals};

fn log(number: u8) -> LogId {
    LogId([number; 16])
}

/// A stream as the journal makes it for a log.
fn stream(number: u8, instance: &str) -> Value {
    json!({
        "name": format!("teamlog_log_team-{number}"), "subjects": [format!("teamlog.log.{}.{instance}.*", log(number))],
        "num_replicas": 3, "storage": "file", "discard": "new", "deny_delete": true, "deny_purge": true,
    })
}

/// Another program's message, which says that it is a group, where one of that sequence stands last.
fn forge(raw: &Raw, subjects: &str, behind: u64, id: GroupDigest, group: &Append<'_>) -> Value {
    let mut headers = HeaderMap::new();
    headers.insert("Nats-Expected-Last-Sequence", behind.to_string());
    headers.insert("Nats-Msg-Id", id.to_string());
    headers.insert("Teamlog-Log", group.log.to_string());
    headers.insert("Teamlog-Last-Seq", group.position.last_seq.to_string());
    headers.insert("Teamlog-Prev", group.after.digest.to_string());
    headers.insert("Teamlog-Digest", group.position.digest.to_string());
    headers.insert("Teamlog-State", "open");
    let acked = raw.ask(&format!("{subjects}.group"), headers, group.bytes);
    assert_eq!(acked["seq"], behind + 1, "{acked}");
    acked
}

/// What the subjects of a log's stream begin with.
fn subjects(raw: &Raw, number: u8) -> String {
    let info = raw.api(
        &format!("STREAM.INFO.teamlog_log_team-{number}"),
        &json!({}),
    );
    let pattern = info["config"]["subjects"][0].as_str().unwrap();
    pattern.strip_suffix(".*").unwrap().to_owned()
}

#[test]
fn what_others_write_into_a_stream_is_found() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let (journals, id) = journal(&cluster);
    let raw = Raw::to(&cluster);
    for number in 1..=6 {
        journals
            .enroll(&identity(number, &id), LogState::Open)
            .unwrap();
    }
    other_bytes_under_the_same_id(&raw, &journals);
    a_fork_is_found_by_whoever_reads(&raw, &journals);
    what_comes_a_moment_later_was_not_lost(&journals);
    a_message_of_another_program_is_refused(&raw, &journals);
    a_stream_that_was_made_again_is_another(&raw, &journals);
    a_log_is_given_back_to_a_stream_of_its_own(&raw, &journals, &id);
}

/// The server answers that a message of that id is there already: it is another group.
fn other_bytes_under_the_same_id(raw: &Raw, journals: &NatsJournals) {
    let (own, other) = (
        group(1, Position::default(), b"own"),
        group(1, Position::default(), b"other"),
    );
    forge(raw, &subjects(raw, 1), 1, own.position.digest, &other);
    let mut journal = journals.journal();
    assert_eq!(one(journal.as_mut(), own), Outcome::Conflict);
    // Of the same id, and elsewhere.
    let next = group(1, other.position, b"next");
    let last = group(1, next.position, b"last");
    forge(raw, &subjects(raw, 1), 2, last.position.digest, &next);
    let outcome = one(journal.as_mut(), last);
    assert!(matches!(outcome, Outcome::Unknown(_)), "{outcome:?}");
}

/// The server compares a sequence, so that a message may name another predecessor than it has.
fn a_fork_is_found_by_whoever_reads(raw: &Raw, journals: &NatsJournals) {
    let mut journal = journals.journal();
    let first = group(2, Position::default(), b"first");
    assert_eq!(one(journal.as_mut(), first), Outcome::Appended);
    let elsewhere = behind(Position::default(), 1, b"elsewhere");
    let forked = group(2, elsewhere, b"forked");
    forge(raw, &subjects(raw, 2), 2, forked.position.digest, &forked);
    for mut journal in [journals.journal(), journal] {
        let read = journal.read(log(2), first.position, 1000);
        assert_eq!(read, Err(ReadError::Forked));
        let outcome = one(journal.as_mut(), group(2, first.position, b"mine"));
        assert_eq!(outcome, Outcome::Forked);
    }
}

/// As at a leader that was paused, and learns behind that who leads.
fn what_comes_a_moment_later_was_not_lost(journals: &NatsJournals) {
    let mut journal = journals.journal();
    let mut append = |group| assert_eq!(one(journal.as_mut(), group), Outcome::Appended);
    let first = group(6, Position::default(), b"first");
    append(first);
    let second = group(6, first.position, b"second");
    let third = group(6, second.position, b"third");
    thread::scope(|scope| {
        let read = scope.spawn(|| journals.journal().read(log(6), second.position, 1000));
        let appended = scope.spawn(|| one(journals.journal().as_mut(), third));
        thread::sleep(Duration::from_millis(200));
        append(second);
        read.join().unwrap().unwrap();
        assert_eq!(appended.join().unwrap(), Outcome::Appended);
    });
}

fn a_message_of_another_program_is_refused(raw: &Raw, journals: &NatsJournals) {
    let mut journal = journals.journal();
    let first = group(3, Position::default(), b"first");
    let damaged = Append {
        bytes: b"fjrst",
        ..first
    };
    forge(raw, &subjects(raw, 3), 1, first.position.digest, &damaged);
    let read = journal.read(log(3), Position::default(), 1000);
    let Err(ReadError::Refused(why)) = read else {
        panic!("{read:?}");
    };
    assert!(
        why.contains("message 2 of its stream has other bytes"),
        "{why}"
    );
    let outcome = one(journal.as_mut(), first);
    assert!(!matches!(outcome, Outcome::Appended), "{outcome:?}");
}

/// A stream of as many messages, but not the same one.
fn a_stream_that_was_made_again_is_another(raw: &Raw, journals: &NatsJournals) {
    let mut journal = journals.journal();
    let first = group(4, Position::default(), b"first");
    assert_eq!(one(journal.as_mut(), first), Outcome::Appended);
    let removed = raw.api("STREAM.DELETE.teamlog_log_team-4", &json!({}));
    assert_eq!(removed["success"], true, "{removed}");
    let next = group(4, first.position, b"next");
    let outcome = one(journal.as_mut(), next);
    assert!(matches!(outcome, Outcome::Unreachable(_)), "{outcome:?}");
    let read = journal.read(log(4), first.position, 1000);
    assert!(matches!(read, Err(ReadError::OfAnother(_))), "{read:?}");

    let made = raw.api("STREAM.CREATE.teamlog_log_team-4", &stream(4, "again"));
    assert_eq!(made["error"], Value::Null, "{made}");
    let begins = group(4, Position::default(), b"begins");
    let other = group(4, begins.position, b"other");
    forge(raw, &subjects(raw, 4), 0, begins.position.digest, &begins);
    forge(raw, &subjects(raw, 4), 1, other.position.digest, &other);
    let outcome = one(journal.as_mut(), next);
    assert!(matches!(outcome, Outcome::Unreachable(_)), "{outcome:?}");
    let read = journal.read(log(4), first.position, 1000);
    let Err(ReadError::OfAnother(why)) = read else {
        panic!("{read:?}");
    };
    assert!(why.contains("removed and made again"), "{why}");
}

/// What `heal` does where all of it is gone.
fn a_log_is_given_back_to_a_stream_of_its_own(raw: &Raw, journals: &NatsJournals, id: &str) {
    let mut journal = journals.journal();
    let first = group(5, Position::default(), b"first");
    assert_eq!(one(journal.as_mut(), first), Outcome::Appended);
    let (before, removed) = (subjects(raw, 5), "STREAM.DELETE.teamlog_log_team-5");
    raw.api(removed, &json!({}));
    journals
        .enroll(&identity(5, id), LogState::Loading)
        .unwrap();
    assert_ne!(subjects(raw, 5), before);
    let given = journal.append(&[first], LogState::Loading);
    assert_eq!(given, [Outcome::Appended]);
    let opens = group(5, first.position, b"opens");
    assert_eq!(journal.turn(&opens, LogState::Open), Outcome::Appended);
    let page = journal.read(log(5), first.position, 1000).unwrap();
    assert_eq!(page.groups.len(), 1);
}

fn is_not_durable(error: &Error, why: &str) {
    assert_eq!(
        error.journal_fault(),
        Some(JournalFault::NotDurable),
        "{error}"
    );
    assert!(error.to_string().contains(why), "{error}");
}

#[test]
fn what_promises_too_little_takes_nothing() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let (journals, id) = journal(&cluster);
    let raw = Raw::to(&cluster);
    let with = |number: u8, field: &str, value: Value| {
        let mut config = stream(number, "i");
        config[field] = value;
        let made = raw.api(&format!("STREAM.CREATE.teamlog_log_team-{number}"), &config);
        assert_eq!(made["error"], Value::Null, "{field}: {made}");
    };
    for (number, field, value) in [
        (1, "num_replicas", json!(1)),
        (2, "allow_direct", json!(true)),
        (3, "deny_delete", json!(false)),
        (4, "deny_purge", json!(false)),
        (5, "storage", json!("memory")),
        (6, "discard", json!("old")),
        (7, "max_msgs", json!(10)),
        (8, "max_age", json!(3_600_000_000_000_u64)),
        (9, "allow_rollup_hdrs", json!(true)),
    ] {
        // What may be rolled up is not denied to be purged.
        let mut field_is = field;
        if field == "allow_rollup_hdrs" {
            let mut config = stream(number, "i");
            config["deny_purge"] = json!(false);
            config[field] = value;
            raw.api(&format!("STREAM.CREATE.teamlog_log_team-{number}"), &config);
            field_is = "allow_rollup_hdrs";
        } else {
            with(number, field, value);
        }
        let error = journals
            .enroll(&identity(number, &id), LogState::Open)
            .unwrap_err();
        is_not_durable(
            &error,
            &format!("{field_is} of stream teamlog_log_team-{number} must be"),
        );
    }
    a_stream_that_is_changed_takes_no_more(&raw, &journals, &id);
    servers_that_say_nothing(&cluster, &id);
}

/// A setting that an operator changes is seen by the next handle, and by this one within 10 s.
fn a_stream_that_is_changed_takes_no_more(raw: &Raw, journals: &NatsJournals, id: &str) {
    journals.enroll(&identity(20, id), LogState::Open).unwrap();
    let mut config = raw.api("STREAM.INFO.teamlog_log_team-20", &json!({}))["config"].clone();
    config["allow_direct"] = json!(true);
    let updated = raw.api("STREAM.UPDATE.teamlog_log_team-20", &config);
    assert_eq!(updated["error"], Value::Null, "{updated}");
    let mut journal = journals.journal();
    let outcome = one(journal.as_mut(), group(20, Position::default(), b"a"));
    assert!(matches!(outcome, Outcome::NotDurable(_)), "{outcome:?}");
    let read = journal.read(log(20), Position::default(), 1000);
    assert!(matches!(read, Err(ReadError::NotDurable(_))), "{read:?}");
}

/// Without the monitors nobody knows whether a server syncs what it acknowledges.
fn servers_that_say_nothing(cluster: &Cluster, id: &str) {
    let all = cluster.config();
    let monitors = [
        vec![],
        vec![all.monitors[0].clone()],
        all.monitors[..2].to_vec(),
    ];
    for (known, monitors) in monitors.into_iter().enumerate() {
        let config = Config {
            monitors,
            ..all.clone()
        };
        let journals = NatsJournals::new(config, id.to_owned());
        let enrolled = journals.enroll(&identity(21, id), LogState::Open);
        match known {
            2 => enrolled.unwrap(),
            _ => is_not_durable(&enrolled.unwrap_err(), "the settings of 2 of the servers"),
        }
    }
}

#[test]
fn servers_that_promise_too_little_are_named() {
    for (sync_interval, max_payload, why) in [
        ("2m", 9 << 20, "sync_interval of server n0 must be always"),
        (
            "always",
            1 << 20,
            "max_payload of server n0 must be 8454144 or more, but is 1048576",
        ),
    ] {
        let settings = Settings {
            servers: 1,
            sync_interval,
            max_payload,
            ..Settings::default()
        };
        let Some(cluster) = Cluster::with(&settings) else {
            return;
        };
        let copies = cluster.config().create(1).unwrap();
        assert_eq!(
            (copies.copies, copies.wrong.len()),
            (1, 1),
            "{:?}",
            copies.wrong
        );
        assert!(copies.wrong[0].contains(why), "{:?}", copies.wrong);
        let journals = NatsJournals::new(cluster.config(), copies.journal.clone());
        let error = journals.enroll(&identity(1, &copies.journal), LogState::Open);
        is_not_durable(&error.unwrap_err(), why);
        let three = cluster.config().create(4).unwrap_err();
        assert!(three.to_string().contains("may be on 5"), "{three}");
    }
}

#[test]
fn another_journal_or_none_is_said() {
    let settings = Settings {
        servers: 1,
        ..Settings::default()
    };
    let Some(cluster) = Cluster::with(&settings) else {
        return;
    };
    let none = cluster.config().look().unwrap_err();
    assert_eq!(
        none.journal_fault(),
        Some(JournalFault::OfAnother),
        "{none}"
    );
    let made = cluster.config().create(1).unwrap();
    assert_eq!(
        cluster.config().create(2).unwrap(),
        made,
        "what is there stays"
    );
    let id = "00000000-0000-4000-8000-000000000000";
    let journals = NatsJournals::new(cluster.config(), id.into());
    let mut journal = journals.journal();
    let read = journal.read(log(1), Position::default(), 10);
    assert!(matches!(read, Err(ReadError::OfAnother(_))), "{read:?}");
    let outcome = one(journal.as_mut(), group(1, Position::default(), b"a"));
    assert!(matches!(outcome, Outcome::Refused(_)), "{outcome:?}");
    let nobody = Config {
        url: "nats://127.0.0.1:1,127.0.0.1:2".into(),
        ..Config::default()
    };
    let error = nobody.look().unwrap_err();
    assert_eq!(
        error.journal_fault(),
        Some(JournalFault::Unreachable),
        "{error}"
    );
    let mut journal = NatsJournals::new(nobody, id.into()).journal();
    let outcome = one(journal.as_mut(), group(1, Position::default(), b"a"));
    assert!(matches!(outcome, Outcome::Unreachable(_)), "{outcome:?}");
}
