//! Tests PostgreSQL by the rules for every journal, and by the rules for this journal alone.

use crate::cluster::Cluster;
use crate::conformance::{
    behind, conforms, group, identity, names_a_fold_version, one, tells_the_time, texts,
};
use std::time::Instant;
use teamlog_engine::LogId;
use teamlog_engine::journal::{Connector, Outcome, Position, ReadError, Server, Trimmer};
use teamlog_journal_postgres::{Config, PostgresJournals};

#[test]
fn postgres_conforms() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let id = cluster.journal();
    let journals = PostgresJournals::new(cluster.config("ada"), id.clone());
    conforms(&journals, &id, 100);
    tells_the_time(journals.journal().as_mut());
    names_a_fold_version(journals.journal().as_mut());
    a_team_is_found(&journals, &id);
    another_journal_is_refused(&cluster);
    every_server_says_why_it_is_not_reached(&cluster);
    hosts_change_nothing(&cluster);
    let status = journals.status(LogId([1; 16])).unwrap().unwrap();
    assert_eq!(status.state.as_str(), "open");
    assert_eq!(status.last_seq, 6);
    assert_eq!(status.groups, 4);
    assert_eq!(journals.status(LogId([99; 16])).unwrap(), None);
    let seen = journals.hosts(LogId([1; 16])).unwrap();
    assert_eq!((seen[0].name.as_str(), seen.len()), ("ada", 1));
    hosts_with_one_name_are_told_apart(&cluster, &id);
    what_is_trimmed_is_gone(&journals);
    older_tables_are_migrated(&cluster);
}

/// Tables of version 3 knew a host by its name.
fn older_tables_are_migrated(cluster: &Cluster) {
    let older = "drop table teamlog_host; \
        create table teamlog_host (host text, log uuid, seq bigint, state_digest text, fold_version int, \
          seen_at timestamptz not null, primary key (host, log)); \
        insert into teamlog_host (host, log, seen_at) values ('ada', gen_random_uuid(), now()); \
        drop function teamlog_readmit; alter table teamlog_log drop column returns; \
        update teamlog_meta set schema = 3, min_reader = 3";
    cluster.sql_in(0, "journal", older);
    let config = cluster.config("ada");
    let why = config.inspect().unwrap_err().to_string();
    assert!(why.contains("teamlog journal migrate"), "{why}");
    for _ in 0..2 {
        let copies = config.migrate().unwrap().unwrap();
        assert_eq!(copies.wrong, Vec::<String>::new());
    }
    let journals = PostgresJournals::new(config, cluster.journal());
    assert_eq!(journals.find("team-9").unwrap(), None);
    let seen = journals.hosts(LogId([1; 16])).unwrap();
    assert!(seen.is_empty(), "what older hosts wrote is gone: {seen:?}");
}

fn a_team_is_found(journals: &PostgresJournals, id: &str) {
    let found = journals.find("team-1").unwrap().unwrap();
    assert_eq!(found, identity(1, id).encode());
    assert_eq!(journals.find("team-9").unwrap(), None);
}

/// Checks that the error for each unreachable server has a reason.
fn every_server_says_why_it_is_not_reached(cluster: &Cluster) {
    let nobody = crate::cluster::config(&[1, 2], "ada");
    let why = nobody.inspect().unwrap_err().to_string();
    assert!(
        why.contains("127.0.0.1:1: ") && why.contains("127.0.0.1:2: "),
        "{why}"
    );
    // If one server answers but is not the deciding server, its error is more useful than the error of an unreachable server.
    let other = crate::cluster::config(&[1, cluster.servers[0].port], "ada");
    let journals = PostgresJournals::new(other, "00000000-0000-4000-8000-000000000000".into());
    let why = journals.hosts(LogId([1; 16])).unwrap_err().to_string();
    assert!(
        why.contains("is journal") && !why.contains("127.0.0.1:1: "),
        "{why}"
    );
}

fn another_journal_is_refused(cluster: &Cluster) {
    let id = "00000000-0000-4000-8000-000000000000";
    let journals = PostgresJournals::new(cluster.config("ada"), id.into());
    let mut journal = journals.journal();
    let read = journal.read(LogId([1; 16]), Position::default(), 10);
    assert!(matches!(read, Err(ReadError::OtherJournal(_))), "{read:?}");
    let outcome = one(journal.as_mut(), group(1, Position::default(), b"a"));
    assert!(matches!(outcome, Outcome::Refused(_)), "{outcome:?}");
}

/// Checks that a role with a host's grants can append and read, but cannot change or delete groups, or start a log.
fn hosts_change_nothing(cluster: &Cluster) {
    let as_host = |text: &str| {
        let text = format!(
            "do $$ begin set local role teamlog_host_role; {text}; exception when insufficient_privilege then \
             raise notice 'no'; return; end $$; select 'done'"
        );
        cluster.sql_in(0, "journal", &text)
    };
    let count = || {
        cluster.sql_in(
            0,
            "journal",
            "select count(*), sum(length(bytes)) from teamlog_group",
        )
    };
    let before = count();
    for text in [
        "delete from teamlog_group",
        "update teamlog_group set bytes = ''",
        "update teamlog_log set state = 'left'",
        "insert into teamlog_group (log, first_seq, last_seq, base, chain, bytes) \
         select log, 1000, 1000, true, chain, '' from teamlog_group limit 1",
    ] {
        as_host(text);
        assert_eq!(count(), before, "{text}");
    }
    assert_eq!(
        cluster.sql_in(
            0,
            "journal",
            "select count(*) from teamlog_log where state = 'left' and team <> 'team-6'"
        ),
        "0"
    );
}

/// Several roots on one machine have the same name. Each root has an id, under which its lag is stored. A role changes only its
/// own rows.
fn hosts_with_one_name_are_told_apart(cluster: &Cluster, id: &str) {
    let dir = tempfile::tempdir().unwrap();
    for role in ["ada_role", "eve_role"] {
        let text =
            format!("create role {role} login; grant teamlog_host_role, pg_monitor to {role}");
        cluster.sql(0, &text);
    }
    let follow = |role: &str, name: &str, after: Position| {
        let config = cluster.config("one-machine");
        let config = Config {
            url: config.url.replace("teamlog@", &format!("{role}@")),
            host_id_file: Some(dir.path().join(name)),
            ..config
        };
        let journals = PostgresJournals::new(config, id.to_owned());
        let mut journal = journals.journal();
        journal.read(LogId([1; 16]), after, 1).unwrap();
        journal.confirm(Instant::now()).unwrap();
        journals
    };
    let start = Position::default();
    let journals = follow("ada_role", "first", start);
    follow("eve_role", "second", group(1, start, b"a").position);
    // Use the host id `first` again, with another role.
    follow("eve_role", "first", start);
    let seen = journals.hosts(LogId([1; 16])).unwrap();
    let lags: Vec<Option<u64>> = seen
        .iter()
        .filter(|host| host.name == "one-machine")
        .map(|host| host.followed)
        .collect();
    assert_eq!(lags.len(), 2, "{seen:?}");
    assert!(
        lags.contains(&Some(0)) && lags.contains(&Some(1)),
        "{seen:?}"
    );
    let as_eve = |text: &str| {
        cluster.sql_in(
            0,
            "journal",
            &format!("set session authorization eve_role; {text}"),
        )
    };
    let changed = "with changed as (update teamlog_host set seq = 1000 where owner = 'ada_role' returning 1) \
        select count(*) from changed";
    assert_eq!(as_eve(changed), "0");
    let forged = "do $$ begin insert into teamlog_host (host, name, log, owner, seq, seen_at) \
        values ('x', 'x', gen_random_uuid(), 'ada_role', 1, now()); \
        exception when insufficient_privilege then return; end $$; \
        select count(*) from teamlog_host where host = 'x'";
    assert_eq!(as_eve(forged), "0");
}

/// The first log has groups that end with events 1, 2, 5 and 6.
fn what_is_trimmed_is_gone(journals: &PostgresJournals) {
    let (log, mut journal) = (LogId([1; 16]), journals.journal());
    let after_a = group(1, Position::default(), b"a").position;
    let after_b = group(1, after_a, b"b").position;
    let (large, d) = (vec![b'l'; 300_000], b"d");
    let after_large = behind(after_b, 3, &large);
    for _ in 0..2 {
        // Event 5 is within a group, and the group stays whole.
        journals.trim(log, 5).unwrap();
        assert_eq!(journal.read(log, after_a, 10), Err(ReadError::Trimmed(2)));
        assert_eq!(
            journal.read(log, Position::default(), 10),
            Err(ReadError::Trimmed(2))
        );
        assert_eq!(texts(journal.as_mut(), 1, after_b, 10)[1], "d");
    }
    assert_eq!(journals.trim(log, 5).unwrap(), (0, 0));
    assert_eq!(
        one(journal.as_mut(), group(1, after_large, d)),
        Outcome::Appended
    );
    let after_d = group(1, after_large, d).position;
    let end = group(1, after_d, b"behind");
    assert_eq!(one(journal.as_mut(), end), Outcome::Appended);
    assert_eq!(journals.trim(log, 1_000).unwrap(), (3, 300_007));
    assert!(texts(journal.as_mut(), 1, end.position, 10).is_empty());
    let more = group(1, end.position, b"more");
    assert_eq!(one(journal.as_mut(), more), Outcome::Appended);
    assert_eq!(texts(journal.as_mut(), 1, end.position, 10), ["more"]);
}
