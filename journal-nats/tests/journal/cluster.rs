//! Servers of the test's own, on loopback ports.

use async_nats::{Client, HeaderMap};
use serde_json::{Value, json};
use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use teamlog_journal_nats::{Config, NatsJournals};
use tokio::runtime::Runtime;

/// One server.
struct Server {
    port: u16,
    monitor: u16,
    child: Child,
}

/// Servers that are one cluster, or one alone.
pub struct Cluster {
    program: PathBuf,
    dir: tempfile::TempDir,
    servers: Vec<Server>,
}

/// What all servers are told; a test may tell them less.
pub struct Settings {
    pub servers: usize,
    pub sync_interval: &'static str,
    pub max_payload: u32,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            servers: 3,
            sync_interval: "always",
            max_payload: 9 << 20,
        }
    }
}

impl Cluster {
    /// Three servers as they must be, where the program is there.
    pub fn start() -> Option<Cluster> {
        Cluster::with(&Settings::default())
    }

    /// Servers with these settings.
    pub fn with(settings: &Settings) -> Option<Cluster> {
        let Some(program) = std::env::var_os("TEAMLOG_NATS") else {
            eprintln!("skipped: TEAMLOG_NATS does not name a server's program");
            return None;
        };
        // All at once, so that no two are the same.
        let listeners: Vec<TcpListener> = (0..3 * settings.servers)
            .map(|_| TcpListener::bind("127.0.0.1:0").unwrap())
            .collect();
        let ports: Vec<u16> = listeners
            .iter()
            .map(|one| one.local_addr().unwrap().port())
            .collect();
        drop(listeners);
        let mut cluster = Cluster {
            program: program.into(),
            dir: tempfile::tempdir().unwrap(),
            servers: Vec::new(),
        };
        let routes: Vec<String> = ports
            .chunks(3)
            .map(|one| format!("nats://127.0.0.1:{}", one[2]))
            .collect();
        for (number, ports) in ports.chunks(3).enumerate() {
            let store = cluster.dir.path().join(format!("n{number}"));
            let mut text = format!(
                "server_name: n{number}\nlisten: \"127.0.0.1:{}\"\nhttp: \"127.0.0.1:{}\"\nmax_payload: {}\n\
                 jetstream {{ store_dir: \"{}\", sync_interval: {} }}\n",
                ports[0],
                ports[1],
                settings.max_payload,
                store.display(),
                settings.sync_interval
            );
            if settings.servers > 1 {
                text.push_str(&format!(
                    "cluster {{ name: c, listen: \"127.0.0.1:{}\", routes: [{}] }}\n",
                    ports[2],
                    routes.join(", ")
                ));
            }
            fs::write(cluster.conf(number), text).unwrap();
            let child = cluster.run(number);
            cluster.servers.push(Server {
                port: ports[0],
                monitor: ports[1],
                child,
            });
        }
        for number in 0..settings.servers {
            cluster.wait_for(number);
        }
        cluster.wait_for_quorum();
        Some(cluster)
    }

    fn conf(&self, number: usize) -> PathBuf {
        self.dir.path().join(format!("n{number}.conf"))
    }

    fn run(&self, number: usize) -> Child {
        let mut command = Command::new(&self.program);
        command.arg("-c").arg(self.conf(number));
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().unwrap()
    }

    fn wait_for(&self, number: usize) {
        let end = Instant::now() + Duration::from_secs(20);
        while TcpStream::connect(("127.0.0.1", self.servers[number].port)).is_err() {
            assert!(Instant::now() < end, "server {number} does not come");
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits until streams can be made.
    pub fn wait_for_quorum(&self) {
        let end = Instant::now() + Duration::from_secs(20);
        while Raw::to(self).api("INFO", &json!({}))["error"] != Value::Null {
            assert!(Instant::now() < end, "no leader is elected");
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// All servers, as a host names them.
    pub fn config(&self) -> Config {
        let hosts: Vec<String> = self
            .servers
            .iter()
            .map(|one| format!("127.0.0.1:{}", one.port))
            .collect();
        let monitors = self
            .servers
            .iter()
            .map(|one| format!("http://127.0.0.1:{}", one.monitor));
        Config {
            url: format!("nats://{}", hosts.join(",")),
            monitors: monitors.collect(),
            host: "ada".into(),
            ..Config::default()
        }
    }

    /// A new journal, and its id.
    pub fn journal(&self) -> (NatsJournals, String) {
        let copies = NatsJournals::create(&self.config(), 2).unwrap();
        assert_eq!(copies.wrong, Vec::<String>::new());
        let journals = NatsJournals::new(self.config(), copies.journal.clone());
        (journals, copies.journal)
    }

    /// The number of the server that leads a stream.
    pub fn leader(&self, stream: &str) -> usize {
        let info = Raw::to(self).api(&format!("STREAM.INFO.{stream}"), &json!({}));
        let name = info["cluster"]["leader"].as_str().unwrap();
        name[1..].parse().unwrap()
    }

    pub fn kill(&mut self, number: usize) {
        self.servers[number].child.kill().unwrap();
        self.servers[number].child.wait().unwrap();
    }

    pub fn restart(&mut self, number: usize) {
        self.servers[number].child = self.run(number);
        self.wait_for(number);
    }

    pub fn signal(&self, number: usize, signal: &str) {
        let pid = self.servers[number].child.id().to_string();
        let done = Command::new("kill").args([signal, &pid]).status().unwrap();
        assert!(done.success());
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for server in &mut self.servers {
            let _ = server.child.kill();
            let _ = server.child.wait();
        }
    }
}

/// A client that knows nothing of journals.
pub struct Raw {
    runtime: Runtime,
    client: Client,
}

impl Raw {
    pub fn to(cluster: &Cluster) -> Raw {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let url = cluster.config().url;
        let addresses: Vec<String> = url["nats://".len()..]
            .split(',')
            .map(|host| format!("nats://{host}"))
            .collect();
        let client = runtime.block_on(async_nats::connect(addresses)).unwrap();
        Raw { runtime, client }
    }

    /// What a server answers; `error` where it does not.
    pub fn api(&self, what: &str, body: &Value) -> Value {
        self.ask(
            &format!("$JS.API.{what}"),
            HeaderMap::new(),
            body.to_string().as_bytes(),
        )
    }

    pub fn ask(&self, subject: &str, headers: HeaderMap, bytes: &[u8]) -> Value {
        let request = async_nats::Request::new()
            .headers(headers)
            .payload(bytes.to_vec().into());
        let request = request.timeout(Some(Duration::from_secs(2)));
        match self
            .runtime
            .block_on(self.client.send_request(subject.to_owned(), request))
        {
            Ok(answer) => serde_json::from_slice(&answer.payload).unwrap(),
            Err(error) => json!({ "error": error.to_string() }),
        }
    }
}
