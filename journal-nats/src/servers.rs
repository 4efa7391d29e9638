//! What the servers say of themselves, by their monitors: whether each syncs what it writes before it says so.

use crate::config::monitor_address;
use crate::stream::Info;
use serde::Deserialize;
use std::io;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// How long a monitor may take to answer.
const MONITOR: Duration = Duration::from_millis(800);
/// More than a server has to say of itself.
const ANSWER_BYTES_MAX: u64 = 1 << 20;
/// A group has up to 4 MiB in canonical JSON, its frames more, and headers stand before them.
const PAYLOAD_BYTES_MIN: u64 = (8 << 20) + (64 << 10);
/// Older servers are not looked at.
const VERSION_MIN: (u32, u32) = (2, 14);

/// A server, as its monitor shows it.
#[derive(Debug, Deserialize)]
pub struct Server {
    #[serde(rename = "server_name")]
    pub name: String,
    #[serde(default)]
    pub version: String,
    #[serde(default)]
    max_payload: u64,
    jetstream: Option<Streams>,
}

#[derive(Debug, Deserialize)]
struct Streams {
    config: Option<Settings>,
}

#[derive(Debug, Deserialize)]
struct Settings {
    #[serde(default)]
    sync_always: bool,
}

/// The servers whose monitors answer.
pub async fn look(monitors: &[String]) -> Vec<Server> {
    let asked: Vec<_> = monitors
        .iter()
        .filter_map(|url| monitor_address(url).map(str::to_owned))
        .map(|address| {
            tokio::spawn(async move { tokio::time::timeout(MONITOR, ask(&address)).await })
        })
        .collect();
    let mut servers = Vec::new();
    for asking in asked {
        if let Ok(Ok(Ok(server))) = asking.await {
            servers.push(server);
        }
    }
    servers
}

async fn ask(address: &str) -> io::Result<Server> {
    let mut socket = TcpStream::connect(address).await?;
    // In this version of HTTP an answer comes in one piece, and ends the connection.
    let request = format!("GET /varz HTTP/1.0\r\nHost: {address}\r\n\r\n");
    socket.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    socket
        .take(ANSWER_BYTES_MAX)
        .read_to_end(&mut answer)
        .await?;
    let text = String::from_utf8_lossy(&answer);
    let body = text.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    serde_json::from_str(body).map_err(io::Error::from)
}

impl Server {
    /// The first two numbers of its version.
    pub fn release(&self) -> (u32, u32) {
        let numbers = self
            .version
            .split('.')
            .map(|part| part.parse().unwrap_or(0));
        let mut numbers = numbers.chain([0, 0]);
        (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
    }

    /// What of its settings promises less than a journal needs, in words.
    fn wrong(&self) -> Vec<String> {
        let (mut wrong, name) = (Vec::new(), &self.name);
        let version = self.release();
        if version < VERSION_MIN {
            let (major, minor) = VERSION_MIN;
            wrong.push(format!(
                "server {name} must have version {major}.{minor} or later, but has {}",
                self.version
            ));
        }
        let settings = self
            .jetstream
            .as_ref()
            .and_then(|streams| streams.config.as_ref());
        if !settings.is_some_and(|settings| settings.sync_always) {
            wrong.push(format!(
                "sync_interval of server {name} must be always, but is not"
            ));
        }
        if self.max_payload < PAYLOAD_BYTES_MIN {
            wrong.push(format!(
                "max_payload of server {name} must be {PAYLOAD_BYTES_MIN} or more, but is {}",
                self.max_payload
            ));
        }
        wrong
    }
}

/// What of the servers that have a stream promises less than a log needs, in words. One that does not answer acknowledges nothing
/// either, so it is enough that a quorum of them does. `connected` is the one that the line leads to.
pub fn wrong(servers: &[Server], info: &Info, connected: &str) -> Vec<String> {
    let mut wrong: Vec<String> = servers.iter().flat_map(Server::wrong).collect();
    let peers = match info.peers() {
        peers if peers.is_empty() => vec![connected],
        peers => peers.into_iter().map(|(name, _)| name).collect(),
    };
    let is_known = |name: &&&str| servers.iter().any(|server| server.name == **name);
    let known = peers.iter().filter(is_known).count();
    let quorum = peers.len() / 2 + 1;
    if known < quorum {
        wrong.push(format!(
            "the settings of {quorum} of the servers {} must be known, but of {known} they are: monitors names where each tells them",
            peers.join(", ")
        ));
    }
    wrong
}
