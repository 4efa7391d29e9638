//! Streams: what they must be like to be a log, what a server says of one, and the messages in it.

use crate::line::{CALL, Line, Lost, NO_MESSAGE, NO_STREAM, PAUSE, SHORT, for_message};
use crate::message::Raw;
use serde::Deserialize;
use serde_json::{Value, json};
use std::time::Instant;

/// What a server says of a stream.
#[derive(Debug, Deserialize)]
pub struct Info {
    /// When it was made: one that was removed and made again has another time.
    pub created: String,
    /// The clock of its leader.
    pub ts: Option<String>,
    pub state: Holds,
    config: Value,
    cluster: Option<Peers>,
}

/// What a stream holds.
#[derive(Debug, Deserialize)]
pub struct Holds {
    pub messages: u64,
    pub bytes: u64,
    pub first_seq: u64,
    pub last_seq: u64,
}

#[derive(Debug, Deserialize)]
struct Peers {
    #[serde(default)]
    leader: String,
    #[serde(default)]
    replicas: Vec<Peer>,
}

#[derive(Debug, Deserialize)]
struct Peer {
    #[serde(default)]
    name: String,
    #[serde(default)]
    current: bool,
    #[serde(default)]
    offline: bool,
}

/// What every stream of a journal is like.
fn required() -> Value {
    json!({
        "storage": "file", "retention": "limits", "discard": "new", "deny_delete": true, "deny_purge": true,
        "max_msgs": -1, "max_bytes": -1, "max_age": 0, "max_msg_size": -1, "max_msgs_per_subject": -1, "max_consumers": -1,
    })
}

/// What no stream of a journal has: it would answer without its leader, or before it synced, or take messages out again.
const FORBIDDEN: &str = "\
    allow_direct mirror_direct allow_rollup_hdrs allow_msg_ttl allow_msg_counter allow_msg_schedules no_ack \
    sealed mirror sources subject_transform subject_delete_marker_ttl";

/// How many servers have a stream of which so many must have each message before it is acknowledged: those are its quorum.
pub fn replicas(min_copies: u32) -> u32 {
    min_copies.saturating_mul(2).saturating_sub(1)
}

/// Makes a stream. One that is like that already is not made again.
///
/// # Errors
/// [`Lost`]; refused with `STREAM_EXISTS` where one of that name is another.
pub async fn make(line: &Line, name: &str, subject: &str, min_copies: u32) -> Result<(), Lost> {
    let mut config = required();
    config["name"] = json!(name);
    config["subjects"] = json!([subject]);
    config["num_replicas"] = json!(replicas(min_copies));
    line.api::<Value>(&format!("STREAM.CREATE.{name}"), &config, SHORT)
        .await
        .map(drop)
}

/// What its leader says of a stream; `None` where there is none. Where a server answers that is not it, it is asked again.
pub async fn info(line: &Line, name: &str) -> Result<Option<Info>, Lost> {
    let until = Instant::now() + CALL;
    loop {
        let asked = line
            .api(&format!("STREAM.INFO.{name}"), &json!({}), SHORT)
            .await;
        let info: Option<Info> = found(asked, NO_STREAM)?;
        if info.as_ref().is_none_or(Info::is_of_leader) {
            return Ok(info);
        }
        if Instant::now() >= until {
            let why = format!("a server answers for stream {name} that knows none of its others");
            return Err(Lost::Unsent(why));
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// The names of the streams that have a subject of these.
pub async fn names(line: &Line, subjects: &str) -> Result<Vec<String>, Lost> {
    #[derive(Deserialize)]
    struct Names {
        streams: Option<Vec<String>>,
    }
    let body = json!({ "subject": subjects });
    let names: Names = line.api("STREAM.NAMES", &body, SHORT).await?;
    Ok(names.streams.unwrap_or_default())
}

/// A message by its sequence, or by `last_by_subj`, as the leader of the stream has it; `None` where there is none.
pub async fn message(line: &Line, name: &str, which: Value) -> Result<Option<Raw>, Lost> {
    #[derive(Deserialize)]
    struct Found {
        message: Raw,
    }
    let asked = line
        .api::<Found>(&format!("STREAM.MSG.GET.{name}"), &which, for_message())
        .await;
    let found = found(asked, NO_MESSAGE)?;
    Ok(found.map(|found| found.message))
}

fn found<T>(asked: Result<T, Lost>, none: u64) -> Result<Option<T>, Lost> {
    match asked {
        Ok(found) => Ok(Some(found)),
        Err(lost) if lost.is(none) => Ok(None),
        Err(lost) => Err(lost),
    }
}

impl Info {
    /// Whether it is its leader's. A server that just began and has not joined the others yet says what it has, and names itself
    /// as the leader of nobody.
    fn is_of_leader(&self) -> bool {
        self.config["num_replicas"].as_u64().unwrap_or(1) <= 1 || self.peers().len() > 1
    }

    /// Its only subject, or the pattern of them.
    pub fn subject(&self) -> &str {
        let subjects = self.config["subjects"].as_array().map(Vec::as_slice);
        match subjects {
            Some([Value::String(one)]) => one,
            _ => "",
        }
    }

    /// The servers that have it, its leader first, and whether each is as far as that.
    pub fn peers(&self) -> Vec<(&str, bool)> {
        let Some(peers) = &self.cluster else {
            return Vec::new();
        };
        let leader = std::iter::once((peers.leader.as_str(), true));
        let others = peers
            .replicas
            .iter()
            .map(|peer| (peer.name.as_str(), peer.current && !peer.offline));
        leader
            .chain(others)
            .filter(|(name, _)| !name.is_empty())
            .collect()
    }

    /// What of its settings promises less than a log needs, in words.
    pub fn wrong(&self, name: &str, min_copies: u32) -> Vec<String> {
        let mut wrong = Vec::new();
        let mut differs = |field: &str, wanted: &str, found: &Value| {
            wrong.push(format!(
                "{field} of stream {name} must be {wanted}, but is {found}"
            ));
        };
        for (field, wanted) in required().as_object().into_iter().flatten() {
            let found = &self.config[field];
            if found != wanted {
                differs(field, &wanted.to_string(), found);
            }
        }
        for field in FORBIDDEN.split_whitespace() {
            let found = &self.config[field];
            if ![Value::Null, json!(false), json!(0)].contains(found) {
                differs(field, "unset", found);
            }
        }
        let persist = &self.config["persist_mode"];
        if ![Value::Null, json!(""), json!("default")].contains(persist) {
            differs("persist_mode", "default", persist);
        }
        let (found, wanted) = (&self.config["num_replicas"], replicas(min_copies));
        if found.as_u64().is_none_or(|found| found < u64::from(wanted)) {
            differs("num_replicas", &format!("{wanted} or more"), found);
        }
        if self.state.messages != self.state.last_seq || self.state.first_seq > 1 {
            wrong.push(format!(
                "stream {name} must have all of its {} messages, but has {}",
                self.state.last_seq, self.state.messages
            ));
        }
        wrong
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(config: Value) -> Info {
        let state = json!({ "messages": 7, "bytes": 9, "first_seq": 1, "last_seq": 7 });
        let peers = json!({ "leader": "n1", "replicas": [
            { "name": "n2", "current": true }, { "name": "n3", "current": true, "offline": true }, {} ] });
        let text = json!({ "created": "t", "ts": "t", "state": state, "config": config, "cluster": peers });
        serde_json::from_value(text).unwrap()
    }

    #[test]
    fn a_stream_is_as_it_must_be_or_each_setting_that_is_not_is_named() {
        let mut good = required();
        good["num_replicas"] = json!(3);
        good["subjects"] = json!(["teamlog.log.x.*"]);
        assert_eq!(info(good.clone()).wrong("s", 2), Vec::<String>::new());
        assert_eq!(info(good.clone()).subject(), "teamlog.log.x.*");
        let peers = info(good.clone());
        assert_eq!(peers.peers(), [("n1", true), ("n2", true), ("n3", false)]);
        assert_eq!(
            info(good.clone()).wrong("s", 3).len(),
            1,
            "three servers are no five"
        );
        for field in FORBIDDEN.split_whitespace().chain([
            "storage",
            "max_bytes",
            "persist_mode",
            "num_replicas",
        ]) {
            let mut other = good.clone();
            other[field] = json!("other");
            let wrong = info(other).wrong("s", 2);
            assert!(
                matches!(&wrong[..], [one] if one.starts_with(field)),
                "{field}: {wrong:?}"
            );
        }
    }

    #[test]
    fn who_leads_nobody_is_no_leader_of_several() {
        let mut alone = info(json!({ "num_replicas": 3 }));
        assert!(alone.is_of_leader());
        alone.cluster.as_mut().unwrap().replicas.clear();
        assert!(!alone.is_of_leader());
        alone.cluster = None;
        assert!(!alone.is_of_leader());
        alone.config = json!({ "num_replicas": 1 });
        assert!(alone.is_of_leader());
    }

    #[test]
    fn whatever_a_server_says_is_no_panic() {
        for config in [
            json!(null),
            json!(7),
            json!([1]),
            json!("x"),
            json!({ "subjects": 1, "num_replicas": -1 }),
        ] {
            let info = info(config);
            assert!(info.wrong("s", u32::MAX).len() > 10);
            assert_eq!(info.subject(), "");
        }
    }
}
