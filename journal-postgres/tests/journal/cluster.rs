//! Servers for the tests, on loopback ports, as an unprivileged user.

use crate::ports::free_port;
use std::fs;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use teamlog_journal_postgres::{Config, Connector};

/// Returns the directory of PostgreSQL's programs, if the tests should use them.
fn programs() -> Option<PathBuf> {
    let given = std::env::var_os("TEAMLOG_POSTGRES")?;
    let dir = PathBuf::from(given);
    assert!(
        dir.join("initdb").exists(),
        "no initdb in {}",
        dir.display()
    );
    Some(dir)
}

/// A server.
pub struct Server {
    pub name: &'static str,
    pub port: u16,
    dir: PathBuf,
    child: Option<Child>,
}

/// A primary and two standbys. A commit waits for one of the standbys.
pub struct Cluster {
    programs: PathBuf,
    dir: tempfile::TempDir,
    pub servers: Vec<Server>,
    pub owner: Option<u32>,
}

/// Returns the user that runs PostgreSQL, because PostgreSQL does not run as root.
fn owner() -> Option<u32> {
    let id = |args: &[&str]| {
        let output = Command::new("id").args(args).output().unwrap();
        String::from_utf8(output.stdout)
            .unwrap()
            .trim()
            .parse()
            .ok()
    };
    (id(&["-u"]) == Some(0)).then(|| id(&["-u", "postgres"]).unwrap_or(65_534))
}

impl Cluster {
    /// Starts the cluster. Without PostgreSQL's programs, prints a message on standard error and returns `None`.
    pub fn start() -> Option<Cluster> {
        let Some(programs) = programs() else {
            eprintln!("skipped: TEAMLOG_POSTGRES names no PostgreSQL");
            return None;
        };
        let dir = tempfile::tempdir().unwrap();
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o777)).unwrap();
        let mut cluster = Cluster {
            programs,
            dir,
            servers: Vec::new(),
            owner: owner(),
        };
        let primary = cluster.place("primary");
        let data = primary.dir.display().to_string();
        cluster.run(
            "initdb",
            &["-D", &data, "-U", "teamlog", "-A", "trust", "--no-sync"],
        );
        primary.configure(
            "listen_addresses = '127.0.0.1'\nmax_connections = 60\n\
             synchronous_standby_names = 'ANY 1 (one, two)'\nunix_socket_directories = ''\n\
             wal_receiver_timeout = '5s'\nwal_retrieve_retry_interval = '200ms'\n\
             dynamic_shared_memory_type = mmap\n",
        );
        cluster.servers.push(primary);
        cluster.begin(0);
        for name in ["one", "two"] {
            let standby = cluster.place(name);
            let from = cluster.servers[0].conninfo();
            let data = standby.dir.display().to_string();
            cluster.run(
                "pg_basebackup",
                &["-D", &data, "-R", "-d", &from, "--no-sync", "-c", "fast"],
            );
            standby.configure(&format!("cluster_name = '{name}'\n"));
            cluster.servers.push(standby);
            let at = cluster.servers.len() - 1;
            cluster.begin(at);
        }
        cluster.sql(0, "create database journal");
        cluster.wait_for_standbys(0, 2);
        Some(cluster)
    }

    fn place(&self, name: &'static str) -> Server {
        let dir = self.dir.path().join(name);
        fs::create_dir(&dir).unwrap();
        fs::set_permissions(&dir, fs::Permissions::from_mode(0o700)).unwrap();
        if let Some(owner) = self.owner {
            chown(&dir, Some(owner), Some(owner)).unwrap();
        }
        Server {
            name,
            port: free_port(),
            dir,
            child: None,
        }
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.programs.join(program));
        command.current_dir(self.dir.path()).env("LC_ALL", "C");
        if let Some(owner) = self.owner {
            command.uid(owner).gid(owner);
        }
        command
    }

    fn run(&self, program: &str, args: &[&str]) -> String {
        let output = self.command(program).args(args).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{program} {args:?}: {said}");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// Starts a server and waits until the server answers.
    pub fn begin(&mut self, at: usize) {
        let server = &self.servers[at];
        let log_path = self.dir.path().join(format!("{}.log", server.name));
        let log = fs::File::options()
            .create(true)
            .append(true)
            .open(&log_path);
        let (data, port) = (server.dir.display().to_string(), server.port.to_string());
        let mut command = self.command("postgres");
        command.args(["-D", &data, "-p", &port]);
        command.stdout(Stdio::null()).stderr(log.unwrap());
        let mut child = command.spawn().unwrap();
        let end = Instant::now() + Duration::from_secs(60);
        let ready = ["-h", "127.0.0.1", "-p", &port, "-q", "-t", "1"];
        let answers = || self.command("pg_isready").args(ready).status().unwrap();
        while !answers().success() {
            let ended = child.try_wait().unwrap();
            if ended.is_some() || Instant::now() > end {
                let _ = child.kill();
                let log = fs::read_to_string(&log_path).unwrap();
                panic!(
                    "{} does not start ({ended:?}); its log:\n{log}",
                    server.name
                );
            }
            thread::sleep(Duration::from_millis(50));
        }
        self.servers[at].child = Some(child);
    }

    /// Runs SQL on a server, and returns the answer as text.
    pub fn sql(&self, at: usize, text: &str) -> String {
        self.sql_in(at, "postgres", text)
    }

    pub fn sql_in(&self, at: usize, database: &str, text: &str) -> String {
        let port = self.servers[at].port.to_string();
        let place = [
            "-h",
            "127.0.0.1",
            "-p",
            &port,
            "-U",
            "teamlog",
            "-d",
            database,
        ];
        let args = [
            &place[..],
            &["-X", "-A", "-t", "-q", "-v", "ON_ERROR_STOP=1", "-c", text],
        ];
        self.run("psql", &args.concat())
    }

    /// Copies the journal's database into another system of servers.
    pub fn copy_to(&self, other: &Cluster) {
        let dump = other.dir.path().join("journal.sql");
        let (dump, port) = (dump.display().to_string(), self.servers[0].port.to_string());
        let place = ["-h", "127.0.0.1", "-p", &port, "-U", "teamlog"];
        let what = ["-O", "-x", "-f", &dump, "journal"];
        other.run("pg_dump", &[&place[..], &what].concat());
        other.sql_in(0, "journal", &format!("\\i {dump}"));
    }

    /// Waits until `count` standbys are synchronous.
    pub fn wait_for_standbys(&self, at: usize, count: usize) {
        let end = Instant::now() + Duration::from_secs(60);
        let asked = "select count(*) from pg_stat_replication where state = 'streaming' and sync_state = 'quorum'";
        while self.sql(at, asked).parse::<usize>().unwrap() < count {
            assert!(Instant::now() < end, "standbys do not follow");
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// Lists the processes of a server. The last process in the list is the main process.
    fn processes(&self, at: usize) -> Vec<String> {
        let parent = self.servers[at].child.as_ref().unwrap().id().to_string();
        let output = Command::new("ps")
            .args(["-o", "pid=", "--ppid", &parent])
            .output()
            .unwrap();
        let children = String::from_utf8(output.stdout).unwrap();
        let children = children.split_whitespace().map(str::to_owned);
        children.chain([parent]).collect()
    }

    fn signal(&self, at: usize, signal: &str) {
        let mut command = Command::new("kill");
        // Ignore a failure: the process may have ended meanwhile.
        let _ = command
            .arg(signal)
            .args(self.processes(at))
            .stderr(Stdio::null())
            .status();
    }

    /// Pauses all processes of a server.
    pub fn pause(&self, at: usize) {
        self.signal(at, "-STOP");
    }

    pub fn go_on(&self, at: usize) {
        self.signal(at, "-CONT");
    }

    /// Kills a server.
    pub fn kill(&mut self, at: usize) {
        self.signal(at, "-KILL");
        if let Some(mut child) = self.servers[at].child.take() {
            child.wait().unwrap();
        }
    }

    /// Returns the position up to which a standby has received the WAL of its primary.
    pub fn received(&self, at: usize) -> u64 {
        self.sql(
            at,
            "select pg_wal_lsn_diff(pg_last_wal_receive_lsn(), '0/0')::bigint",
        )
        .parse()
        .unwrap()
    }

    /// Promotes a standby to primary; the other standby follows it.
    pub fn promote(&self, at: usize, other: usize) {
        self.promote_alone(at);
        self.follow(other, at);
    }

    /// Promotes a standby to primary.
    pub fn promote_alone(&self, at: usize) {
        let data = self.servers[at].dir.display().to_string();
        self.run("pg_ctl", &["promote", "-D", &data, "-w"]);
    }

    /// Stops standbys from following, so that their primary continues without copies.
    pub fn detach(&self, standbys: &[usize]) {
        for at in standbys {
            self.sql(*at, "alter system set primary_conninfo = ''");
            self.sql(*at, "select pg_reload_conf()");
        }
        let end = Instant::now() + Duration::from_secs(30);
        let follows = |at: &usize| self.sql(*at, "select 1 from pg_stat_wal_receiver") == "1";
        while standbys.iter().any(follows) {
            assert!(Instant::now() < end, "a standby goes on following");
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// Makes a standby follow another server.
    fn follow(&self, standby: usize, primary: usize) {
        let from = self.servers[primary].conninfo();
        self.sql(
            standby,
            &format!("alter system set primary_conninfo = '{from}'"),
        );
        self.sql(standby, "select pg_reload_conf()");
    }

    /// Replaces a server's `pg_hba.conf` by these lines.
    pub fn admit(&self, at: usize, hba: &str) {
        fs::write(self.servers[at].dir.join("pg_hba.conf"), hba).unwrap();
        self.sql(at, "select pg_reload_conf()");
        // Wait until new connections see all of these rules.
        thread::sleep(Duration::from_millis(300));
    }

    /// Gives a server three files: its certificate, its key, and the authority that signs the clients' certificates. Replaces
    /// the server's `pg_hba.conf` by these lines.
    pub fn encrypt(&self, at: usize, files: [&Path; 3], hba: &str) {
        let dir = &self.servers[at].dir;
        let names = ["ssl_cert_file", "ssl_key_file", "ssl_ca_file"];
        for (name, file) in names.into_iter().zip(files) {
            let own = dir.join(name);
            fs::copy(file, &own).unwrap();
            fs::set_permissions(&own, fs::Permissions::from_mode(0o600)).unwrap();
            if let Some(owner) = self.owner {
                chown(&own, Some(owner), Some(owner)).unwrap();
            }
            self.sql(at, &format!("alter system set {name} = '{name}'"));
        }
        self.sql(at, "alter system set ssl = on");
        fs::write(dir.join("pg_hba.conf"), hba).unwrap();
        self.sql(at, "select pg_reload_conf()");
        let end = Instant::now() + Duration::from_secs(10);
        while self.sql(at, "show ssl") != "on" {
            assert!(
                Instant::now() < end,
                "{} does not encrypt",
                self.servers[at].name
            );
            thread::sleep(Duration::from_millis(50));
        }
        // Wait until new connections see all of these rules.
        thread::sleep(Duration::from_millis(300));
    }

    /// Returns the journal's configuration, with all servers.
    pub fn config(&self, host: &str) -> Config {
        let ports: Vec<u16> = self.servers.iter().map(|server| server.port).collect();
        config(&ports, host)
    }

    /// Creates the journal, or finds the existing journal.
    pub fn journal(&self) -> String {
        let copies = self.config("maker").create(2).unwrap();
        assert_eq!(copies.wrong, Vec::<String>::new());
        copies.journal
    }
}

/// Returns a configuration with the servers on these ports.
pub fn config(ports: &[u16], host: &str) -> Config {
    let hosts: Vec<String> = ports
        .iter()
        .map(|port| format!("127.0.0.1:{port}"))
        .collect();
    Config {
        url: format!("postgres://teamlog@{}/journal", hosts.join(",")),
        host: host.to_owned(),
        ..Config::default()
    }
}

impl Server {
    fn conninfo(&self) -> String {
        format!("host=127.0.0.1 port={} user=teamlog", self.port)
    }

    fn configure(&self, lines: &str) {
        let path: &Path = &self.dir.join("postgresql.conf");
        let mut file = fs::File::options().append(true).open(path).unwrap();
        file.write_all(lines.as_bytes()).unwrap();
    }

    /// Removes the shared memory of a killed server. Otherwise the system would keep the memory, and the system allows only
    /// 4,096 segments of shared memory.
    fn remove_shared_memory(&self) {
        let Ok(state) = fs::read_to_string(self.dir.join("postmaster.pid")) else {
            return;
        };
        // The seventh line of `postmaster.pid` holds the key and the id of the shared memory segment.
        let number = state
            .lines()
            .nth(6)
            .and_then(|line| line.split_whitespace().nth(1));
        if let Some(number) = number {
            // If the removal fails, the test is not affected.
            let _ = Command::new("ipcrm").args(["-m", number]).status();
        }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for at in 0..self.servers.len() {
            if self.servers[at].child.is_some() {
                self.kill(at);
            }
            self.servers[at].remove_shared_memory();
        }
    }
}
