//! The surfaces. Each surface has a separate team in memory, runs a call, and returns the outcome.

use crate::drawing::{Draw, Drawn, Known};
use crate::prelude::*;
use serde_json::Map;
use std::io::{BufRead, Write};
use std::ops::ControlFlow;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::thread;
use teamlog_server::{Call, Caller, Method, Reach, Served, route};
use teamlog_team::api::{self, Fault, Operation};
use teamlog_team::command::deadline::Deadline;
use teamlog_team::command::{Control, Origin};
use teamlog_team::engine::storage::Memory;
use teamlog_team::engine::{ManualClock, Receipt, SeededIds, Timestamp};
use teamlog_team::lifecycle::init::Init;
use teamlog_team::lifecycle::status::Status;
use teamlog_team::log::rehydrate::Rehydrate;
use teamlog_team::{Root, RootOptions, Team};

/// MCP tools and their operations.
const TOOLS: [(&str, &str); 12] = [
    ("list-ready-tasks", "ready"),
    ("prime-agent", "prime"),
    ("read-inbox", "inbox"),
    ("show-task", "task"),
    ("read-trace", "trace"),
    ("read-team-status", "status"),
    ("replay-events", "events"),
    ("state-read", "state_read"),
    ("state-write", "state_write"),
    ("state-clear", "state_clear"),
    ("state-list-active", "state_list_active"),
    ("state-get-status", "state_get_status"),
];

/// A data root in memory with the team `demo`.
pub struct World {
    root: Root,
    pub clock: Arc<ManualClock>,
}

impl World {
    pub fn new(round: u64) -> World {
        let noon = Timestamp::parse("2026-11-21T12:00:00.000000Z").unwrap();
        let clock = Arc::new(ManualClock::new(noon));
        let options = RootOptions {
            clock: clock.clone(),
            ids: Arc::new(SeededIds(round.into())),
            ..RootOptions::default()
        };
        let root = Root::on(Arc::new(Memory::new()), options);
        let members = ["lead", "dev", "qa"].map(str::to_owned).to_vec();
        let init = Init {
            members,
            ..Init::for_team("demo")
        };
        root.init(init).unwrap();
        World { root, clock }
    }

    fn team(&self) -> Team {
        self.root.team("demo").unwrap()
    }

    /// Returns the receipt of the log, which covers all of its bytes.
    pub fn head(&self) -> Receipt {
        self.team().head().unwrap().receipt
    }

    pub fn kinds(&self) -> Vec<String> {
        let mut kinds = Vec::new();
        let exported = self.team().export(&mut |line| {
            let event: Value = serde_json::from_slice(line).unwrap();
            kinds.push(event["kind"].as_str().unwrap().to_owned());
            ControlFlow::Continue(())
        });
        exported.unwrap();
        kinds
    }

    /// Returns the digest of the state. Asserts that the rebuilt state has an equal digest.
    pub fn digest(&self) -> String {
        let asked = Status {
            digest: true,
            ..Status::default()
        };
        let mut team = self.team();
        let live = team.status(asked).unwrap().state_digest.unwrap();
        let rebuilt = team
            .rehydrate(Rehydrate::default(), &mut |_, _| {})
            .unwrap();
        assert_eq!(live, rebuilt.state_digest, "live and rebuilt state differ");
        live
    }
}

/// A call that was chosen at random.
#[derive(Debug)]
pub struct Asked {
    pub operation: &'static Operation,
    pub drawn: Drawn,
    pub key: Option<String>,
    pub actor: Option<String>,
    pub trace: Option<String>,
}

impl Asked {
    pub fn scripted(operation: &'static Operation, mut input: Map<String, Value>) -> Asked {
        let mut control = |name: &str| match input.remove(name) {
            Some(Value::String(text)) => Some(text),
            _ => None,
        };
        let (actor, trace) = match operation.mutates() {
            true => (control("actor"), control("trace_id")),
            false => (None, None),
        };
        input.remove("team_name");
        Asked {
            operation,
            drawn: Drawn {
                input,
                mistyped: false,
            },
            key: None,
            actor,
            trace,
        }
    }

    pub fn draw(operation: &'static Operation, known: &Known, draw: &mut Draw) -> Asked {
        let drawn = known.input(operation, draw);
        let mutates = operation.mutates();
        let mut given = |times: usize, value: &dyn Fn(&mut Draw) -> String| {
            (mutates && draw.one_in(times)).then(|| value(draw))
        };
        Asked {
            operation,
            drawn,
            key: given(3, &|draw| format!("k-{}", draw.next(1_000_000))),
            actor: given(8, &|draw| draw.of(&["lead", "dev", "qa"]).to_owned()),
            trace: given(8, &|_| "story-1".to_owned()),
        }
    }

    /// Returns the input in the form of `api`, with all controls.
    fn whole(&self) -> Map<String, Value> {
        let mut input = self.drawn.input.clone();
        input.insert("team_name".into(), json!("demo"));
        let controls = [
            ("key", &self.key),
            ("actor", &self.actor),
            ("trace_id", &self.trace),
        ];
        for (name, value) in controls {
            input.extend(value.clone().map(|value| (name.to_owned(), json!(value))));
        }
        input
    }

    /// Returns the input without controls: only the operation's own fields.
    fn own(&self) -> Map<String, Value> {
        let mut own = self.drawn.input.clone();
        if !has_own_version(self.operation) {
            own.remove("expected_version");
        }
        own
    }

    /// Returns the bytes that must be equal when a request is repeated with its key.
    fn request(&self) -> Vec<u8> {
        let mut input = self.whole();
        input.remove("key");
        serde_json::to_vec(&input).unwrap()
    }
}

/// Returns true if `expected_version` is a field of the operation and not one of the controls that every operation accepts.
fn has_own_version(operation: &Operation) -> bool {
    let about = |operation: &Operation| {
        let schema = operation.input_schema().to_value();
        schema["properties"]["expected_version"].clone()
    };
    about(operation) != about(api::find("ack").unwrap())
}

/// The part of an outcome that all surfaces report.
#[derive(Debug, PartialEq)]
pub struct Outcome {
    /// Data of the answer, or the code of the refusal.
    pub answer: Result<Value, String>,
    /// True if the answer is a stored answer. `None` if the surface does not report this.
    pub replayed: Option<bool>,
}

pub trait Surface {
    fn name(&self) -> &'static str;
    fn world(&self) -> &World;
    fn call(&mut self, asked: &Asked) -> Outcome;
}

fn by_envelope(world: &World, asked: &Asked) -> Outcome {
    match api::call(
        &world.root,
        asked.operation,
        asked.whole(),
        Control::default(),
    ) {
        Ok(answered) => {
            let mut team = answered.team.unwrap();
            let replayed = Some(team.repeated());
            team.finish().unwrap();
            Outcome {
                answer: Ok(serde_json::from_str(answered.data.get()).unwrap()),
                replayed,
            }
        }
        Err(fault) => Outcome {
            answer: Err(precise(&fault)),
            replayed: None,
        },
    }
}

/// Returns the code of the rule that refused the call.
fn precise(fault: &Fault) -> String {
    let inner = fault.details.get("code").and_then(Value::as_str);
    inner.unwrap_or(&fault.code).to_owned()
}

pub struct Envelope(pub World);

impl Surface for Envelope {
    fn name(&self) -> &'static str {
        "envelope"
    }
    fn world(&self) -> &World {
        &self.0
    }
    fn call(&mut self, asked: &Asked) -> Outcome {
        by_envelope(&self.0, asked)
    }
}

/// Surface of typed calls, which run the operation's type on an open team.
pub struct Typed(pub World);

impl Surface for Typed {
    fn name(&self) -> &'static str {
        "typed"
    }
    fn world(&self) -> &World {
        &self.0
    }
    fn call(&mut self, asked: &Asked) -> Outcome {
        // Only the envelope accepts a value whose type differs from the type of its field.
        if asked.drawn.mistyped {
            return by_envelope(&self.0, asked);
        }
        let mut team = self.0.team();
        team.under(Control {
            operation: asked.operation.name.to_owned(),
            request: asked
                .key
                .as_ref()
                .map(|_| asked.request())
                .unwrap_or_default(),
            key: asked.key.clone(),
            trace_id: asked.trace.clone(),
            actor: asked.actor.clone(),
            ..Control::default()
        });
        let input = Value::Object(asked.own()).to_string();
        let answer = asked.operation.execute(&mut team, &input);
        let replayed = answer.is_ok().then(|| team.repeated());
        if answer.is_ok() {
            team.finish().unwrap();
        }
        Outcome {
            answer: answer
                .map(|data| serde_json::from_str(data.get()).unwrap())
                .map_err(|failure| failure.code().to_owned()),
            replayed,
        }
    }
}

pub struct Http {
    world: World,
    served: Served,
}

impl Http {
    pub fn new(world: World) -> Http {
        let served = Served::new(world.root);
        // Use the daemon's own root, because it holds the locks of the teams.
        let root = served.root().clone();
        let world = World { root, ..world };
        Http { world, served }
    }
}

impl Surface for Http {
    fn name(&self) -> &'static str {
        "HTTP"
    }
    fn world(&self) -> &World {
        &self.world
    }
    fn call(&mut self, asked: &Asked) -> Outcome {
        let mut body = asked.whole();
        let key = body
            .remove("key")
            .and_then(|key| key.as_str().map(str::to_owned));
        let call = Call {
            method: Method::Post,
            path: ["v1", "api", asked.operation.name]
                .map(str::to_owned)
                .to_vec(),
            query: Vec::new(),
            caller: Caller::with_token(Reach::Team("demo".to_owned())),
            team: "demo".to_owned(),
            key,
            trace_id: None,
            last_event_id: None,
            wants_stream: false,
            deadline: Deadline::default(),
            batch: None,
            body: Value::Object(body).to_string().into_bytes(),
        };
        let reply = route::answer(&self.served, &call);
        let envelope: Value = serde_json::from_slice(&reply.body).unwrap();
        let repeated = reply
            .headers
            .iter()
            .any(|(name, _)| *name == "Idempotent-Replayed");
        match envelope["ok"] == true {
            true => Outcome {
                answer: Ok(envelope["data"].clone()),
                replayed: Some(repeated),
            },
            false => {
                let fault = serde_json::from_value(envelope["error"].clone())
                    .unwrap_or_else(|error| panic!("{asked:?}: {error}: {envelope}"));
                assert!(reply.status >= 400, "{asked:?}: {envelope}");
                Outcome {
                    answer: Err(precise(&fault)),
                    replayed: None,
                }
            }
        }
    }
}

pub struct Mcp {
    world: World,
    to: UnixStream,
    from: BufReader<UnixStream>,
}

impl Mcp {
    pub fn new(world: World) -> Mcp {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let streams = (theirs.try_clone().unwrap(), theirs);
        let root = world.root.clone();
        thread::spawn(move || {
            let here: teamlog_mcp::Elsewhere = Arc::new(|_, _, _| None);
            teamlog_mcp::serve(Some(root), None, Ok(None), Origin::default(), here, streams)
                .unwrap();
        });
        let from = BufReader::new(ours.try_clone().unwrap());
        let mut mcp = Mcp {
            world,
            to: ours,
            from,
        };
        let about = json!({"protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"}});
        mcp.ask("initialize", about);
        let told = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        writeln!(mcp.to, "{told}").unwrap();
        mcp
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        writeln!(self.to, "{request}").unwrap();
        let mut line = String::new();
        self.from.read_line(&mut line).unwrap();
        let mut answer: Value = serde_json::from_str(&line).unwrap();
        answer["result"].take()
    }
}

impl Surface for Mcp {
    fn name(&self) -> &'static str {
        "MCP"
    }
    fn world(&self) -> &World {
        &self.world
    }
    fn call(&mut self, asked: &Asked) -> Outcome {
        let mut tools = TOOLS.iter();
        let tool = tools.find(|(operation, _)| *operation == asked.operation.name);
        let controls = [&asked.key, &asked.actor, &asked.trace];
        // MCP tools accept no controls, and have their own rules for a value whose type differs from the type of its field.
        let plain = controls.iter().all(|control| control.is_none()) && !asked.drawn.mistyped;
        let hidden = asked.drawn.input.contains_key("stale_minutes");
        let Some((_, tool)) = tool.filter(|_| plain && !hidden) else {
            return by_envelope(&self.world, asked);
        };
        let mut arguments = asked.own();
        arguments.insert("team".into(), json!("demo"));
        let result = self.ask("tools/call", json!({"name": tool, "arguments": arguments}));
        let text = result["content"][0]["text"].as_str().unwrap();
        let told: Value = serde_json::from_str(text).unwrap();
        Outcome {
            answer: match result["isError"] == true {
                false => Ok(told),
                true => Err(told["code"].as_str().unwrap().to_owned()),
            },
            replayed: None,
        }
    }
}
