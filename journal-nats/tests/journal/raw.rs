//! A client that knows nothing of journals.

use crate::cluster::Cluster;
use async_nats::{Client, HeaderMap};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::runtime::Runtime;

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
