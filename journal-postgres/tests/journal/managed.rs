//! Tests of a managed service with `durability = "external"`: the service makes the copies below PostgreSQL, and refuses the
//! functions for the term.

use crate::cluster::{Cluster, config};
use crate::conformance::{group, identity, one, texts};
use std::thread;
use std::time::{Duration, Instant};
use teamlog_engine::JournalFault::{Denied, Moved, NotDurable};
use teamlog_engine::journal::{
    Append, Connector, Durability, Journal, JournalInfo, Journals, LogState, Outcome, Position,
};
use teamlog_engine::{Error, JournalFault};
use teamlog_journal_postgres::{Config, PostgresJournals};

/// Refuses ordinary roles the functions that Aurora refuses. Some of Aurora's refusals cannot be imitated by rights.
const REFUSED: &str =
    "revoke execute on function pg_current_wal_lsn(), pg_control_system() from public";

/// Starts a service without a visible standby, and creates a role with the rights that a managed service grants.
fn service() -> Option<Cluster> {
    let cluster = Cluster::start()?;
    for at in 0..cluster.servers.len() {
        cluster.sql(at, "alter system set synchronous_standby_names = ''");
        reload(&cluster, at);
    }
    cluster.sql(0, "create role app login");
    Some(cluster)
}

fn reload(cluster: &Cluster, at: usize) {
    cluster.sql(at, "select pg_reload_conf()");
    thread::sleep(Duration::from_millis(300));
}

fn external(cluster: &Cluster) -> Config {
    Config {
        durability: Durability::External,
        ..cluster.config("ada")
    }
}

fn as_app(config: &Config) -> Config {
    Config {
        url: config.url.replace("teamlog@", "app@"),
        ..config.clone()
    }
}

/// Creates the journal, gives the role its rights, and refuses the functions to the role.
fn create(cluster: &Cluster) -> JournalInfo {
    let made = external(cluster).create(1).unwrap();
    cluster.sql_in(
        0,
        "journal",
        &format!("grant teamlog_host_role to app; {REFUSED}"),
    );
    made
}

fn fault(config: &Config) -> (JournalFault, String) {
    match config.inspect() {
        Err(Error::Journal { fault, why }) => (fault, why),
        other => panic!("{other:?}"),
    }
}

/// Appends until the journal accepts the group, for at most a minute.
fn append(journal: &mut dyn Journal, group: Append<'_>) {
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        match one(journal, group) {
            Outcome::Appended => return,
            outcome => assert!(Instant::now() < end, "{outcome:?}"),
        }
    }
}

#[test]
fn a_managed_service_is_a_journal_where_a_person_says_so() {
    let Some(mut cluster) = service() else {
        return;
    };
    let made = create(&cluster);
    assert_eq!(made.wrong, Vec::<String>::new());
    assert!(made.term.number > 0, "this role may ask: {made:?}");
    let config = as_app(&external(&cluster));
    // Without the setting, the refused function is a permanent fault, and the error names the setting.
    let (why_fault, why) = fault(&as_app(&cluster.config("ada")));
    assert_eq!(why_fault, Denied);
    assert!(why.contains("durability = \"external\""), "{why}");

    let shown = config.inspect().unwrap();
    assert_eq!(shown.durability, Durability::External);
    assert_eq!(shown.wrong, Vec::<String>::new());
    assert_eq!(
        (shown.term.number, shown.unverified.len()),
        (0, 3),
        "{shown:?}"
    );
    assert_ne!(shown.term.system, 0);
    let unverified = shown.unverified.join("; ");
    for function in ["pg_current_wal_lsn", "pg_control_system"] {
        assert!(unverified.contains(function), "{unverified}");
    }

    let open = || PostgresJournals::new(config.clone(), made.journal.clone());
    let [ada, eve] = [open(), open()];
    ada.enroll(&identity(1, &made.journal), LogState::Open)
        .unwrap();
    let (mut first, mut second) = (ada.journal(), eve.journal());
    let start = Position::default();
    let a = group(1, start, b"a");
    append(first.as_mut(), a);
    assert_eq!(
        one(second.as_mut(), group(1, start, b"b")),
        Outcome::Conflict
    );
    assert_eq!(texts(second.as_mut(), 1, start, 100), ["a"]);
    second.confirm(Instant::now()).unwrap();
    let known = second.term().unwrap();
    assert_eq!((known.number, known.system), (0, shown.term.system));

    a_copy_is_refused(&cluster, &config, &made.journal, a);
    settings_are_checked(&cluster, &config);

    // The service fails over to another server. The term stays the same, because the id that replaces the system id does not
    // change.
    for journal in [&mut first, &mut second] {
        journal.expect_term(known);
    }
    cluster.kill(0);
    cluster.promote_alone(1);
    let b = group(1, a.position, b"b");
    append(first.as_mut(), b);
    append(second.as_mut(), group(1, b.position, b"c"));
    assert_eq!(second.term().unwrap(), known);
}

/// A restored dump in another system of servers is refused, although that system is no standby, and although that system
/// refuses the functions for the term, too.
fn a_copy_is_refused(cluster: &Cluster, own: &Config, id: &str, a: Append<'_>) {
    let Some(other) = service() else { return };
    cluster.copy_to(&other);
    let grants = "create role teamlog_host_role; grant teamlog_host_role to app; \
        grant select, insert, update on all tables in schema public to app";
    other.sql_in(0, "journal", &format!("{grants}; {REFUSED}"));
    let known = PostgresJournals::new(own.clone(), id.to_owned())
        .journal()
        .term()
        .unwrap();
    let config = as_app(&external(&other));
    let mut copy = PostgresJournals::new(config, id.to_owned()).journal();
    let system = copy.term().unwrap();
    assert_eq!(system.number, 0);
    assert!(system.is_of_another_system(known), "{system:?} {known:?}");
    copy.expect_term(known);
    let outcome = one(copy.as_mut(), group(1, a.position, b"copy"));
    assert!(matches!(outcome, Outcome::Unfit(Moved, _)), "{outcome:?}");
}

fn settings_are_checked(cluster: &Cluster, config: &Config) {
    let set = |text: &str| {
        cluster.sql(0, &format!("alter system set {text}"));
        reload(cluster, 0);
    };
    set("full_page_writes = off");
    let shown = config.inspect().unwrap();
    assert_eq!(shown.wrong, Vec::<String>::new());
    assert!(
        shown
            .unverified
            .iter()
            .any(|what| what.contains("full_page_writes")),
        "{shown:?}"
    );
    set("full_page_writes = on");
    let id = config.inspect().unwrap().journal;
    let refused = |why: &str| {
        let shown = config.inspect().unwrap();
        assert!(
            shown.wrong.iter().any(|wrong| wrong.contains(why)),
            "{shown:?}"
        );
        let journals = PostgresJournals::new(config.clone(), id.clone());
        let outcome = one(
            journals.journal().as_mut(),
            group(1, Position::default(), b"a"),
        );
        assert!(matches!(outcome, Outcome::NotDurable(_)), "{outcome:?}");
    };
    set("fsync = off");
    refused("fsync must be on");
    set("fsync = on");
    // Sets the number of copies that the journal promises.
    let promise = |copies: u32| {
        cluster.sql_in(
            0,
            "journal",
            &format!("update teamlog_meta set min_copies = {copies}"),
        );
    };
    promise(2);
    refused("made to count 2 copies");
    promise(1);
}

/// A wrong password or a missing right stays wrong after repetition.
#[test]
fn a_wrong_password_is_a_permanent_fault() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let id = cluster.journal();
    cluster.sql(0, "create role app login password 'right'");
    cluster.sql_in(0, "journal", "grant teamlog_host_role, pg_monitor to app");
    cluster.admit(
        0,
        "host all app 127.0.0.1/32 scram-sha-256\nhost all all 127.0.0.1/32 trust\n\
         host replication all 127.0.0.1/32 trust\n",
    );
    let dir = tempfile::tempdir().unwrap();
    let passfile = dir.path().join("passfile");
    let with = |password: &str| {
        std::fs::write(&passfile, format!("*:*:*:*:{password}\n")).unwrap();
        let config = as_app(&config(&[cluster.servers[0].port], "ada"));
        Config {
            passfile: Some(passfile.clone()),
            ..config
        }
    };
    with("right").inspect().unwrap();
    let (refused, why) = fault(&with("wrong"));
    assert_eq!(refused, Denied, "{why}");
    let journals = PostgresJournals::new(with("wrong"), id);
    let outcome = one(
        journals.journal().as_mut(),
        group(1, Position::default(), b"a"),
    );
    assert!(matches!(outcome, Outcome::Unfit(Denied, _)), "{outcome:?}");
    let none = Config {
        passfile: None,
        ..with("right")
    };
    assert_eq!(fault(&none).0, Denied);
    assert_ne!(Denied, NotDurable);
}
