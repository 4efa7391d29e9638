//! Servers of the test's own, on loopback ports.

use crate::ports::free_port;
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use teamlog_journal_nats::Config;

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
    /// More lines of its file.
    pub more: String,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            servers: 3,
            sync_interval: "always",
            max_payload: 9 << 20,
            more: String::new(),
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
        let ports: Vec<u16> = (0..3 * settings.servers).map(|_| free_port()).collect();
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
            text.push_str(&settings.more);
            if settings.servers > 1 {
                text.push_str(&format!(
                    "cluster {{ name: c, pool_size: -1, listen: \"127.0.0.1:{}\", routes: [{}] }}\n",
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

    /// Waits until streams can be made, and each server knows all others: until then they lose what they tell each other.
    pub fn wait_for_quorum(&self) {
        let end = Instant::now() + Duration::from_secs(30);
        let others = self.servers.len() - 1;
        let is_there = |number: usize| {
            self.told(number, "/healthz")["status"] == "ok"
                && self.told(number, "/varz")["routes"].as_u64().unwrap_or(0) == others as u64
        };
        let placed = || others == 0 || self.places_a_stream();
        while !((0..self.servers.len()).all(is_there) && placed()) {
            assert!(Instant::now() < end, "no leader is elected");
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// Whether a stream is placed on all of them: their leader may take one to be away though each says that it is well.
    fn places_a_stream(&self) -> bool {
        let stream =
            json!({ "name": "probe", "subjects": ["probe"], "num_replicas": self.servers.len() });
        self.does("STREAM.CREATE.probe", &stream) && self.does("STREAM.DELETE.probe", &json!({}))
    }

    /// Whether JetStream answers within a while that it did so.
    fn does(&self, operation: &str, request: &Value) -> bool {
        let mut socket = TcpStream::connect(("127.0.0.1", self.servers[0].port)).unwrap();
        let timeout = Some(Duration::from_secs(5));
        socket.set_read_timeout(timeout).unwrap();
        let request = request.to_string();
        let length = request.len();
        let asked = format!(
            "CONNECT {{\"verbose\":false}}\r\nSUB answer 1\r\nPUB $JS.API.{operation} answer {length}\r\n{request}\r\n"
        );
        socket.write_all(asked.as_bytes()).unwrap();
        let lines = BufReader::new(socket).lines().map_while(Result::ok);
        let mut answer = lines.skip_while(|line| !line.starts_with("MSG answer"));
        answer
            .nth(1)
            .is_some_and(|text| !text.contains("\"error\""))
    }

    /// What a monitor answers; null where it does not.
    fn told(&self, number: usize, path: &str) -> Value {
        let Ok(mut socket) = TcpStream::connect(("127.0.0.1", self.servers[number].monitor)) else {
            return Value::Null;
        };
        let timeout = Some(Duration::from_secs(2));
        socket.set_read_timeout(timeout).unwrap();
        let request = format!("GET {path} HTTP/1.0\r\n\r\n");
        let mut answer = String::new();
        let asked = socket.write_all(request.as_bytes());
        let _ = asked.and_then(|()| socket.read_to_string(&mut answer));
        let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
        serde_json::from_str(body).unwrap_or_default()
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

    /// The number of the server that leads a stream.
    pub fn leader(&self, stream: &str) -> usize {
        let end = Instant::now() + Duration::from_secs(30);
        loop {
            for number in 0..self.servers.len() {
                let told = self.told(number, "/jsz?streams=true");
                let accounts = told["account_details"].as_array().into_iter().flatten();
                let mut streams =
                    accounts.flat_map(|one| one["stream_detail"].as_array().into_iter().flatten());
                let leader = streams
                    .find(|one| one["name"] == stream)
                    .and_then(|one| one["cluster"]["leader"].as_str());
                if let Some(number) = leader.and_then(|name| name.strip_prefix('n')?.parse().ok()) {
                    return number;
                }
            }
            assert!(Instant::now() < end, "nobody leads {stream}");
            thread::sleep(Duration::from_millis(50));
        }
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
