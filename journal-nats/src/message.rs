//! A group as a message: what its headers say, and under which names it stands.

use async_nats::HeaderMap;
use async_nats::header::HeaderValue;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::Deserialize;
use std::str::FromStr;
use teamlog_engine::identity::LogId;
use teamlog_engine::journal::{GroupDigest, LogState, Position};

/// No log has so many events.
const SEQ_MAX: u64 = 1 << 62;
const LOG: &str = "Teamlog-Log";
const LAST_SEQ: &str = "Teamlog-Last-Seq";
const PREV: &str = "Teamlog-Prev";
const DIGEST: &str = "Teamlog-Digest";
const STATE: &str = "Teamlog-State";
const BEGINS: &str = "Teamlog-Begins";

/// The stream of a team: every name that a team may have is one of a stream with `=` for each dot, and no two are the same.
pub fn stream_name(team: &str) -> Option<String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let is_one = !team.is_empty() && team.len() <= 128 && team.chars().all(plain);
    is_one.then(|| format!("teamlog_log_{}", team.replace('.', "=")))
}

/// The subjects of a log's streams begin with that; each stream of it that is made has its own behind it.
pub fn subjects_of(log: LogId) -> String {
    format!("teamlog.log.{log}.")
}

/// What a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// What `log.json` says on every host; it moves no position.
    Identity,
    Group,
}

impl What {
    /// The subject for one, in a stream of these subjects.
    pub fn subject(self, of: &str) -> String {
        match self {
            What::Identity => format!("{of}.identity"),
            What::Group => format!("{of}.group"),
        }
    }
}

/// What a message says beside its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Headers {
    pub log: LogId,
    /// The group digest before it.
    pub prev: GroupDigest,
    /// The place behind it.
    pub position: Position,
    /// What the journal does with the log behind it.
    pub state: LogState,
    /// As [`teamlog_engine::journal::Append::begins`].
    pub begins: Vec<String>,
}

impl Headers {
    /// As NATS sends them. `behind` is the stream sequence that the message may stand behind. The message's id is the digest
    /// behind it: no two groups have the same.
    ///
    /// # Errors
    /// In words: a name cannot stand in a header.
    pub fn encode(&self, what: What, behind: u64) -> Result<HeaderMap, String> {
        let mut map = HeaderMap::new();
        let mut put = |name: &'static str, value: String| {
            let value = HeaderValue::from_str(&value);
            let value = value.map_err(|_| format!("{name} cannot be sent"))?;
            map.insert(name, value);
            Ok::<_, String>(())
        };
        put("Nats-Expected-Last-Sequence", behind.to_string())?;
        if what == What::Group {
            put("Nats-Msg-Id", self.position.digest.to_string())?;
        }
        put(LOG, self.log.to_string())?;
        put(LAST_SEQ, self.position.last_seq.to_string())?;
        put(PREV, self.prev.to_string())?;
        put(DIGEST, self.position.digest.to_string())?;
        put(STATE, self.state.name().to_owned())?;
        if !self.begins.is_empty() {
            put(BEGINS, self.begins.join(" "))?;
        }
        Ok(map)
    }

    /// Reads the block of headers of a stored message; `None` where another program wrote it.
    fn decode(block: &str) -> Option<Headers> {
        let value = |name: &str| {
            let mut lines = block.split("\r\n").filter_map(|line| line.split_once(':'));
            let found = lines.find(|(key, _)| key.eq_ignore_ascii_case(name));
            found.map(|(_, value)| value.trim())
        };
        let begins = value(BEGINS).into_iter().flat_map(|names| names.split(' '));
        Some(Headers {
            log: LogId::from_text(value(LOG)?)?,
            prev: digest(value(PREV)?)?,
            position: Position {
                last_seq: u64::from_str(value(LAST_SEQ)?)
                    .ok()
                    .filter(|seq| *seq <= SEQ_MAX)?,
                digest: digest(value(DIGEST)?)?,
            },
            state: LogState::from_name(value(STATE)?)?,
            begins: begins.map(str::to_owned).collect(),
        })
    }
}

/// Reads what `Display` of a digest writes.
fn digest(text: &str) -> Option<GroupDigest> {
    let mut digest = GroupDigest::default();
    if text.len() != 2 * digest.0.len() || !text.is_ascii() {
        return None;
    }
    for (at, byte) in digest.0.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok()?;
    }
    (digest.to_string() == text).then_some(digest)
}

/// A message as a server gives it.
#[derive(Debug, Deserialize)]
pub struct Raw {
    pub seq: u64,
    subject: String,
    hdrs: Option<String>,
    data: Option<String>,
}

/// A message of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    pub seq: u64,
    pub what: What,
    /// What it says of itself.
    pub headers: Headers,
    /// Of a group its frames.
    pub bytes: Vec<u8>,
}

impl Stored {
    /// Reads a message of a log's stream, and holds its digest against its bytes.
    ///
    /// # Errors
    /// In words: no host of teamlog wrote it as it is.
    pub fn of(raw: &Raw, log: LogId) -> Result<Stored, String> {
        let foreign = |why: &str| format!("message {} of its stream {why}", raw.seq);
        let what = match raw.subject.rsplit('.').next() {
            Some("identity") => What::Identity,
            _ => What::Group,
        };
        let hdrs = raw.hdrs.as_deref().unwrap_or_default();
        let block = BASE64_STANDARD.decode(hdrs).unwrap_or_default();
        let headers = Headers::decode(&String::from_utf8_lossy(&block));
        let headers = headers.ok_or_else(|| foreign("is no group"))?;
        let bytes = raw.bytes().ok_or_else(|| foreign("cannot be read"))?;
        let digest = match what {
            What::Identity => headers.prev,
            What::Group => headers.prev.then(&bytes),
        };
        if headers.log != log {
            return Err(foreign("is of another log"));
        }
        if headers.position.digest != digest {
            return Err(foreign("has other bytes than its digest says"));
        }
        Ok(Stored {
            seq: raw.seq,
            what,
            headers,
            bytes,
        })
    }
}

impl Raw {
    /// The message's bytes; `None` where the server's answer is damaged.
    pub fn bytes(&self) -> Option<Vec<u8>> {
        BASE64_STANDARD
            .decode(self.data.as_deref().unwrap_or_default())
            .ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_team_has_a_stream_of_its_own() {
        assert_eq!(stream_name("demo").unwrap(), "teamlog_log_demo");
        assert_eq!(stream_name("-a.B_c.1").unwrap(), "teamlog_log_-a=B_c=1");
        for team in ["", "a b", "a=b", "a*", "a>", "a/b", "ä"] {
            assert_eq!(stream_name(team), None, "{team}");
        }
        assert!(stream_name(&"a.".repeat(64)).unwrap().len() < 255);
    }

    fn example() -> Headers {
        let prev = GroupDigest([7; 32]);
        Headers {
            log: LogId([1; 16]),
            prev,
            position: Position {
                last_seq: 9,
                digest: prev.then(b"bytes"),
            },
            state: LogState::Open,
            begins: vec!["a.jsonl".into(), "b.jsonl".into()],
        }
    }

    fn block(headers: &Headers) -> String {
        let map = headers.encode(What::Group, 4).unwrap();
        let lines = map
            .iter()
            .map(|(name, values)| format!("{name}: {}\r\n", values[0]));
        format!("NATS/1.0\r\n{}\r\n", lines.collect::<String>())
    }

    #[test]
    fn headers_are_read_as_they_were_written_and_damage_is_seen() {
        let headers = example();
        let block = block(&headers);
        assert_eq!(Headers::decode(&block), Some(headers.clone()));
        assert!(!block.to_lowercase().contains("expected-last-msg-id"));
        let raw = |block: &str, data: &[u8]| Raw {
            seq: 5,
            subject: "x.group".into(),
            hdrs: Some(BASE64_STANDARD.encode(block)),
            data: Some(BASE64_STANDARD.encode(data)),
        };
        let (log, good) = (LogId([1; 16]), raw(&block, b"bytes"));
        assert_eq!(Stored::of(&good, log).unwrap().headers, headers);
        assert!(
            Stored::of(&good, LogId([2; 16]))
                .unwrap_err()
                .contains("of another log")
        );
        let other = Stored::of(&raw(&block, b"other"), log).unwrap_err();
        assert!(other.contains("other bytes"), "{other}");
        for len in 0..block.len() {
            let Some(cut) = block.get(..len) else {
                continue;
            };
            let _ = Stored::of(&raw(cut, b"bytes"), log);
        }
        let no_base64 = Raw {
            data: Some("?".into()),
            ..raw(&block, b"")
        };
        assert!(
            Stored::of(&no_base64, log)
                .unwrap_err()
                .contains("cannot be read")
        );
    }

    #[test]
    fn a_header_that_could_begin_another_is_not_sent() {
        let mut headers = example();
        headers.begins = vec!["a\r\nNats-Rollup: all".into()];
        assert!(headers.encode(What::Group, 1).is_err());
    }
}
