//! A served team in memory, with a manual clock and deterministic random numbers.

use crate::documented;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use teamlog_server::{Call, Caller, Method, Reach, Reply, Served, route};
use teamlog_team::command::deadline::Deadline;
use teamlog_team::engine::storage::Memory;
use teamlog_team::engine::{ManualClock, SeededIds, Timestamp};
use teamlog_team::lifecycle::init::Init;
use teamlog_team::{Root, RootOptions};

pub const SECOND: i64 = 1_000_000;

pub struct World {
    pub served: Arc<Served>,
    pub memory: Arc<Memory>,
    pub clock: Arc<ManualClock>,
}

/// A parsed answer.
#[derive(Debug, PartialEq)]
pub struct TestReply {
    pub status: u16,
    pub json: Value,
    pub reply: Reply,
}

impl TestReply {
    pub fn code(&self) -> &str {
        self.json["error"]["code"].as_str().unwrap_or("-")
    }
    pub fn header(&self, name: &str) -> Option<&str> {
        let header = self.reply.headers.iter().find(|(own, _)| *own == name);
        header.map(|(_, value)| value.as_str())
    }
    #[track_caller]
    pub fn refused(&self, status: u16, code: &str) -> &Self {
        assert_eq!((self.status, self.code()), (status, code), "{}", self.json);
        self
    }
    #[track_caller]
    pub fn done(self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.json);
        self.json
    }
}

impl World {
    /// Creates the open team `demo`.
    pub fn new() -> World {
        World::with(&[])
    }

    /// Creates the team `demo` with a list of members.
    pub fn with(members: &[&str]) -> World {
        let memory = Arc::new(Memory::new());
        let clock = Arc::new(ManualClock::new(
            Timestamp::parse("2026-11-21T12:00:00.000000Z").unwrap(),
        ));
        let served = served(&memory, &clock);
        let init = Init {
            members: members.iter().map(|name| name.to_string()).collect(),
            ..Init::for_team("demo")
        };
        served.root().init(init).unwrap();
        World {
            served,
            memory,
            clock,
        }
    }

    /// Returns a new daemon with the data of this world.
    pub fn restarted(self) -> World {
        let World {
            served: old,
            memory,
            clock,
        } = self;
        drop(old);
        World {
            served: served(&memory, &clock),
            memory,
            clock,
        }
    }

    pub fn later(&self, micros: i64) {
        self.clock.advance(micros);
    }

    pub fn get(&self, target: &str) -> TestReply {
        self.ask(call(Method::Get, target, ""))
    }

    pub fn post(&self, target: &str, body: Value) -> TestReply {
        self.ask(call(Method::Post, target, &body.to_string()))
    }

    pub fn post_text(&self, target: &str, body: &str) -> TestReply {
        self.ask(call(Method::Post, target, body))
    }

    pub fn keyed(&self, key: &str, target: &str, body: Value) -> TestReply {
        self.ask(Call {
            key: Some(key.to_owned()),
            ..call(Method::Post, target, &body.to_string())
        })
    }

    /// Makes calls in order. Each line is a call and its expected result: `POST /v1/tasks {"title": "one"} -> 201`.
    /// Code and field of an error follow the status. An idempotency key precedes the call: `k: POST …`. Returns the
    /// last answer.
    #[track_caller]
    pub fn story(&self, lines: &str) -> Value {
        let mut last = Value::Null;
        for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let (asked, expected) = line.rsplit_once(" -> ").unwrap();
            let mut words = asked.splitn(3, ' ');
            let mut method = words.next().unwrap();
            let key = method.strip_suffix(':').map(str::to_owned);
            if key.is_some() {
                words = asked.splitn(4, ' ');
                method = words.nth(1).unwrap();
            }
            let method = match method {
                "GET" => Method::Get,
                _ => Method::Post,
            };
            let target = words.next().unwrap();
            let body = words.next().unwrap_or_default();
            let said = self.ask(Call {
                key,
                ..call(method, target, body)
            });
            let error = &said.json["error"];
            let told = [Some(said.code()), error["details"]["field"].as_str()];
            for (at, word) in expected.split(' ').enumerate() {
                let told = match at {
                    0 => said.status.to_string(),
                    at => told[at - 1].unwrap_or("-").to_owned(),
                };
                assert_eq!(told, word, "{line}: {}", said.json);
            }
            last = said.json;
        }
        last
    }

    pub fn ask(&self, call: Call) -> TestReply {
        let reply = route::answer(&self.served, &call);
        assert_eq!(reply.body.last(), Some(&b'\n'), "{reply:?}");
        let json = serde_json::from_slice(&reply.body).unwrap();
        if reply.status >= 400 {
            let target = format!("/{}", call.path.join("/"));
            documented::check(call.method.name(), &target, reply.status, &json);
        }
        TestReply {
            status: reply.status,
            json,
            reply,
        }
    }
}

fn served(memory: &Arc<Memory>, clock: &Arc<ManualClock>) -> Arc<Served> {
    let options = RootOptions {
        clock: clock.clone(),
        ids: Arc::new(SeededIds(7.into())),
        lock_deadline: Duration::from_secs(5),
        ..RootOptions::default()
    };
    Arc::new(Served::new(Root::on(memory.clone(), options)))
}

/// Removes the field `sentence` of each event. Only HTTP answers have it; the answers of operations do not.
pub fn without_sentences(mut answer: Value) -> Value {
    let events = answer.get_mut("events").and_then(Value::as_array_mut);
    for event in events.into_iter().flatten() {
        event.as_object_mut().unwrap().remove("sentence");
    }
    answer
}

/// Makes a call for `demo`. The target is split at `/` and not percent-decoded.
pub fn call(method: Method, target: &str, body: &str) -> Call {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    let pairs = pairs.map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    Call {
        method,
        path: path.split('/').skip(1).map(str::to_owned).collect(),
        query: pairs
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect(),
        caller: Caller::with_token(Reach::Team("demo".to_owned())),
        team: "demo".to_owned(),
        key: None,
        trace_id: None,
        last_event_id: None,
        wants_stream: false,
        deadline: Deadline::default(),
        batch: None,
        body: body.as_bytes().to_vec(),
    }
}
