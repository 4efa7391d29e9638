//! Tests with a pooler in front of the server: PgBouncer, if it is installed.

use crate::cluster::{Cluster, config};
use crate::conformance::{group, identity, one, texts};
use crate::ports::free_port;
use std::fs;
use std::net::TcpStream;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use teamlog_engine::journal::{Connector, Journals, LogState, Outcome, Position};
use teamlog_engine::{Error, JournalFault};
use teamlog_journal_postgres::{Config, PostgresJournals};

/// Returns the path of PgBouncer, if it is installed.
fn program() -> Option<PathBuf> {
    let places = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer"];
    let found = places
        .into_iter()
        .map(PathBuf::from)
        .find(|path| path.exists());
    if found.is_none() {
        eprintln!("skipped: PgBouncer is not installed");
    }
    found
}

struct Bouncer {
    port: u16,
    mode: &'static str,
    dir: tempfile::TempDir,
    child: Child,
}

impl Bouncer {
    /// Starts a pooler in front of a server.
    fn start(program: &Path, cluster: &Cluster, mode: &'static str, server: u16) -> Bouncer {
        let dir = tempfile::tempdir().unwrap();
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let (port, file) = (free_port(), dir.path().join("pgbouncer.ini"));
        fs::write(dir.path().join("users"), "\"teamlog\" \"\"\n").unwrap();
        fs::write(&file, settings(dir.path(), mode, port, server)).unwrap();
        let mut command = Command::new(program);
        if let Some(owner) = cluster.owner {
            chown(dir.path(), Some(owner), Some(owner)).unwrap();
            command.uid(owner).gid(owner);
        }
        command.arg("-q").arg(&file);
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let bouncer = Bouncer {
            port,
            mode,
            dir,
            child: child.unwrap(),
        };
        let end = Instant::now() + Duration::from_secs(30);
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(Instant::now() < end, "PgBouncer does not start");
            thread::sleep(Duration::from_millis(50));
        }
        bouncer
    }

    /// Redirects the pooler to another server.
    fn lead_to(&self, server: u16) {
        let text = settings(self.dir.path(), self.mode, self.port, server);
        fs::write(self.dir.path().join("pgbouncer.ini"), text).unwrap();
        let id = self.child.id().to_string();
        assert!(
            Command::new("kill")
                .args(["-HUP", &id])
                .status()
                .unwrap()
                .success()
        );
    }

    fn config(&self, host: &str) -> Config {
        config(&[self.port], host)
    }
}

impl Drop for Bouncer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn settings(dir: &Path, mode: &str, port: u16, server: u16) -> String {
    let users = dir.join("users");
    format!(
        "[databases]\njournal = host=127.0.0.1 port={server}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\n\
         unix_socket_dir =\nauth_type = trust\nauth_file = {}\npool_mode = {mode}\nserver_login_retry = 1\n",
        users.display()
    )
}

#[test]
fn a_session_pooler_is_passed() {
    let Some(program) = program() else { return };
    let Some(mut cluster) = Cluster::start() else {
        return;
    };
    let id = cluster.journal();
    let bouncer = Bouncer::start(&program, &cluster, "session", cluster.servers[0].port);
    let copies = bouncer.config("ada").inspect().unwrap();
    assert_eq!(copies.wrong, Vec::<String>::new());
    let open = |host: &str| PostgresJournals::new(bouncer.config(host), id.clone());
    let [ada, eve] = [open("ada"), open("eve")];
    ada.enroll(&identity(1, &id), LogState::Open).unwrap();
    let (mut first, mut second) = (ada.journal(), eve.journal());
    let a = group(1, Position::default(), b"a");
    assert_eq!(one(first.as_mut(), a), Outcome::Appended);
    let b = group(1, a.position, b"b");
    assert_eq!(one(second.as_mut(), b), Outcome::Appended);
    assert_eq!(
        texts(first.as_mut(), 1, Position::default(), 100),
        ["a", "b"]
    );
    second.confirm(Instant::now()).unwrap();
    // The pooler gives the session of one host to the next host, without the state of the first host.
    drop((second, eve));
    for number in 0..5 {
        let next = open(&format!("host-{number}"));
        let mut journal = next.journal();
        assert_eq!(
            texts(journal.as_mut(), 1, Position::default(), 100),
            ["a", "b"]
        );
        assert_eq!(one(journal.as_mut(), b), Outcome::Appended);
    }

    cluster.kill(0);
    let better = match cluster.received(1) >= cluster.received(2) {
        true => 1,
        false => 2,
    };
    cluster.promote(better, 3 - better);
    cluster.wait_for_standbys(better, 1);
    bouncer.lead_to(cluster.servers[better].port);
    let c = group(1, b.position, b"c");
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        match one(first.as_mut(), c) {
            Outcome::Appended => break,
            outcome => assert!(Instant::now() < end, "{outcome:?}"),
        }
        thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(
        texts(first.as_mut(), 1, Position::default(), 100),
        ["a", "b", "c"]
    );
}

#[test]
fn a_pooler_of_transactions_is_refused() {
    let Some(program) = program() else { return };
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let id = cluster.journal();
    let direct = PostgresJournals::new(cluster.config("maker"), id.clone());
    direct.enroll(&identity(1, &id), LogState::Open).unwrap();
    for mode in ["transaction", "statement"] {
        let bouncer = Bouncer::start(&program, &cluster, mode, cluster.servers[0].port);
        // Inspect twice, because the first inspection must leave no trace that changes the second result.
        for _ in 0..2 {
            match bouncer.config("ada").inspect() {
                Err(Error::Journal {
                    fault: JournalFault::NotDurable,
                    why,
                }) => assert!(why.contains("session pooling"), "{mode}: {why}"),
                other => panic!("{mode}: {other:?}"),
            }
        }
        let pooled = PostgresJournals::new(bouncer.config("ada"), id.clone());
        let outcome = one(
            pooled.journal().as_mut(),
            group(1, Position::default(), b"a"),
        );
        let refused =
            matches!(&outcome, Outcome::NotDurable(why) if why.contains("session pooling"));
        assert!(refused, "{mode}: {outcome:?}");
    }
}

/// The hosts never inspected the journal. The pooler gives one host the session of another host, and neither host records in
/// that session.
#[test]
fn hosts_that_share_a_session_do_not_record_in_it() {
    let Some(program) = program() else { return };
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let id = cluster.journal();
    let direct = PostgresJournals::new(cluster.config("maker"), id.clone());
    direct.enroll(&identity(1, &id), LogState::Open).unwrap();
    let bouncer = Bouncer::start(&program, &cluster, "transaction", cluster.servers[0].port);
    let open = |host: &str| PostgresJournals::new(bouncer.config(host), id.clone()).journal();
    let (mut first, mut second) = (open("ada"), open("eve"));
    let a = group(1, Position::default(), b"a");
    assert_eq!(one(first.as_mut(), a), Outcome::Appended);
    let outcome = one(second.as_mut(), group(1, a.position, b"b"));
    assert!(matches!(outcome, Outcome::NotDurable(_)), "{outcome:?}");
    // Take the session from the first host, like a pooler that gives the host another session.
    cluster.sql(
        0,
        "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'teamlog'",
    );
    let taken = one(first.as_mut(), group(1, a.position, b"b"));
    let read = direct
        .journal()
        .read(teamlog_engine::LogId([1; 16]), a.position, 100);
    let there = read.unwrap().groups.len();
    assert_eq!(there, usize::from(taken == Outcome::Appended), "{taken:?}");
}
