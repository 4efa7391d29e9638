//! Random inputs of operations, drawn from their schemas. Values come from a pool of names and of ids in earlier answers.

use serde_json::{Map, Value, json};
use teamlog_team::api::Operation;
use teamlog_team::bootstrap::events::EVENTS;
use teamlog_team::projections::mode::Mode;

/// Fields that each call sets itself.
const CONTROL: [&str; 5] = ["team_name", "key", "actor", "trace_id", "workingDirectory"];
/// Values of a wrong type.
const WRONG: [&str; 6] = ["null", "-1", "\"\"", "[]", "{\"a\": 1}", "\"\\u0000\""];
/// Maximum nesting of objects and lists.
const DEPTH_MAX: usize = 4;

/// A deterministic source of choices.
pub struct Draw(pub u64);

impl Draw {
    pub fn next(&mut self, below: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % below
    }

    pub fn one_in(&mut self, times: usize) -> bool {
        self.next(times) == 0
    }

    pub fn of<T: Clone>(&mut self, values: &[T]) -> T {
        values[self.next(values.len())].clone()
    }
}

/// A drawn input. `mistyped` is true if a value has a wrong type.
#[derive(Debug, Clone)]
pub struct Drawn {
    pub input: Map<String, Value>,
    pub mistyped: bool,
}

/// Ids in earlier answers.
#[derive(Default)]
pub struct Known {
    claims: Vec<Value>,
    messages: Vec<Value>,
    events: Vec<Value>,
    tokens: Vec<Value>,
    receipt: Option<Value>,
    cursor: Option<Value>,
}

impl Known {
    pub fn learn(&mut self, data: &Value) {
        let found = |field: &str| data.pointer(field).filter(|value| !value.is_null());
        self.claims.extend(found("/claimToken").cloned());
        self.messages.extend(found("/message/message_id").cloned());
        self.messages.extend(found("/message_id").cloned());
        self.events.extend(found("/event/event_id").cloned());
        self.tokens.extend(found("/token/token_id").cloned());
        let cursor = found("/next_cursor").filter(|cursor| cursor.is_string());
        self.cursor = cursor.cloned().or(self.cursor.take());
        self.receipt = found("/receipt").cloned().or(self.receipt.take());
    }

    /// Draws an input without `team_name` and the control fields.
    pub fn input(&self, operation: &Operation, draw: &mut Draw) -> Drawn {
        let schema = operation.input_schema().to_value();
        let required = schema["required"].as_array().into_iter().flatten();
        let required: Vec<&str> = required.filter_map(Value::as_str).collect();
        let mut drawn = Drawn {
            input: Map::new(),
            mistyped: false,
        };
        for (field, about) in schema["properties"].as_object().into_iter().flatten() {
            if CONTROL.contains(&&**field) {
                continue;
            }
            // No other caller acts in the meantime, so a wait would last until its timeout.
            let waits = field == "timeout_ms";
            let rare = matches!(&**field, "expected_version" | "cursor" | "before" | "cause");
            let given = if rare { draw.one_in(6) } else { draw.one_in(2) };
            if !required.contains(&&**field) && !waits && !given {
                continue;
            }
            let wrong = draw.one_in(60) && !waits;
            let value = match wrong {
                true => serde_json::from_str(draw.of(&WRONG)).unwrap(),
                false => self.value(draw, operation.name, field, (about, &schema)),
            };
            drawn.mistyped |= wrong;
            drawn.input.insert(field.clone(), value);
        }
        drawn
    }

    /// Returns a value of the right type. In most cases, the value names an existing object.
    fn value(
        &self,
        draw: &mut Draw,
        operation: &str,
        field: &str,
        (about, schema): (&Value, &Value),
    ) -> Value {
        let last = |values: &[Value]| values.last().cloned().unwrap_or(json!("none"));
        let mut recent = |values: &[Value]| match draw.one_in(3) && !values.is_empty() {
            true => draw.of(values),
            false => last(values),
        };
        match field {
            "claim_token" => return recent(&self.claims),
            "message_id" | "id" => return recent(&self.messages),
            "token_id" => return recent(&self.tokens),
            "after_event_id" => return recent(&self.events),
            "cause" => return json!("018f0000000000000000000000000000"),
            "cursor" => return self.cursor.clone().unwrap_or(json!("none")),
            "receipt" => return self.receipt.clone().unwrap_or(json!({})),
            _ => {}
        }
        let text = match (operation, field) {
            // A separate thread writes the views.
            ("sync-views", "timeout_ms") => return json!(30_000),
            ("diff", "from") => draw.of(&["1", "2", "3"]),
            ("diff", "to") => draw.of(&["4", "5", "last"]),
            ("read-usage-series", "from") => "2026-11-21T11:00:00Z",
            ("read-usage-series", "to") => "2026-11-21T12:30:00Z",
            ("transition-task-status", "from") => {
                draw.of(&["in_progress", "in_progress", "pending"])
            }
            ("transition-task-status", "to") => draw.of(&["completed", "failed", "blocked"]),
            ("thread-post", "to") => return json!([draw.of(&["dev", "qa"])]),
            ("config-set", "value") => draw.of(&["true", "60", "off"]),
            ("send", "type") => draw.of(&["handoff", "status_update", "task_assignment"]),
            ("append-event" | "read-events" | "await-event", "type") => {
                draw.of(&["worker_idle", "worker_state_changed", "worker_diff_report"])
            }
            ("append" | "list-events" | "replay-events", "kind") => draw.of(&["seen", "heard"]),
            ("send", "created_at") => draw.of(&["2026-11-21T11:59:59Z", "2026-11-21T12:00:00Z"]),
            (_, "worker" | "agent" | "from_worker" | "to_worker" | "owner" | "reviewer") => {
                draw.of(&["lead", "dev", "dev", "qa", "leader-fixed", "nobody"])
            }
            (_, "requested_by" | "from" | "to") => draw.of(&["lead", "dev", "qa", "leader-fixed"]),
            (_, "due_at" | "defer_until") => {
                draw.of(&["friday", "90m", "2026-11-20", "none", "soon"])
            }
            (_, "priority") if operation != "send" => draw.of(&["low", "high", "utmost"]),
            (_, "label") => draw.of(&["api", "ui"]),
            (_, "task_id" | "current_task_id" | "parent") => {
                draw.of(&["1", "1", "2", "3", "4", "5", "6"])
            }
            (_, "thread_id") => draw.of(&["thread-0001", "thread-0001", "thread-0002"]),
            (_, "session_id") => draw.of(&["s1", "s2"]),
            (_, "setting") => draw.of(&["views", "nudge.idle_seconds", "guard.record", "no.such"]),
            (_, "path") => draw.of(&["src/io/a", "../a", "docs"]),
            (_, "text") => draw.of(&["$forge it", "$autopilot and $crew it", "hello", "$cancel"]),
            (_, "name") => draw.of(&["a.patch", "b"]),
            (_, "run") => draw.of(&["1", "2"]),
            (_, "event") => EVENTS[draw.next(EVENTS.len())].name,
            (_, "mode") if about["enum"].is_null() => draw.of(&Mode::ALL).name(),
            (_, "current_phase") => draw.of(&["planning", "executing", "verifying", "no-phase"]),
            (_, "min_updated_at") => "2026-11-21T12:00:00.000000Z",
            (_, "digest") if operation == "token-add" => {
                return json!(["a", "b", "c"][draw.next(3)].repeat(64));
            }
            _ => return self.structured(draw, field, (about, schema)),
        };
        json!(text)
    }

    fn structured(&self, draw: &mut Draw, field: &str, (about, schema): (&Value, &Value)) -> Value {
        match field {
            "blocked_by" | "assigned_tasks" => {
                let tasks = (0..draw.next(3)).map(|_| draw.of(&["1", "2", "3", "4"]));
                json!(tasks.collect::<Vec<_>>())
            }
            "labels" => draw.of(&[json!(["api"]), json!(["+ui"]), json!(["-api"]), json!([])]),
            "resources" => draw.of(&[json!(["src"]), json!(["src/io", "docs"]), json!(["."])]),
            "facts" => draw.of(&[
                json!([{"kind": "seen"}]),
                json!([{"kind": "seen", "key": "line"}, {"kind": "heard", "agent": "dev"}]),
            ]),
            "lease_ms" => draw.of(&[json!(1_000), json!(900_000)]),
            "expected_version" | "epoch" => json!(1 + draw.next(6)),
            "timeout_ms" | "poll_ms" => json!(0),
            "participants" => json!(["dev", "qa"]),
            "since" => json!(draw.next(30)),
            "max_tokens" | "per_agent_tokens" => json!(60 + draw.next(60)),
            "hard_limit" => json!(draw.one_in(6)),
            "data" => draw.of(&[
                json!({}),
                json!({"outcome": "ok", "name": "alpha"}),
                json!({"member": "a"}),
                json!({"method": "team_api", "members": ["a", "obstruction", "synthesizer"]}),
                json!({"from": "obstruction"}),
                json!({"d": "a"}),
            ]),
            "snapshot" | "metadata" => json!({"taskStatusById": {"1": "pending"}}),
            "state" if about["enum"].is_null() && about["$ref"].is_null() => {
                json!({"active": true})
            }
            _ => of_schema(draw, about, schema, 0),
        }
    }
}

/// Draws a value for a schema. `whole` has the definitions to which the schema refers.
fn of_schema(draw: &mut Draw, schema: &Value, whole: &Value, depth: usize) -> Value {
    if depth > DEPTH_MAX {
        return Value::Null;
    }
    if let Some(named) = schema["$ref"].as_str() {
        let definition = whole.pointer(named.trim_start_matches('#'));
        return definition.map_or(Value::Null, |found| {
            of_schema(draw, found, whole, depth + 1)
        });
    }
    if let Some(Value::Array(names)) = schema.get("enum") {
        return draw.of(names);
    }
    for nested in ["anyOf", "oneOf", "allOf"] {
        if let Some(Value::Array(of)) = schema.get(nested) {
            let of = draw.of(of);
            return of_schema(draw, &of, whole, depth + 1);
        }
    }
    if let Some(only) = schema.get("const") {
        return only.clone();
    }
    let kind = match schema.get("type") {
        Some(Value::Array(kinds)) => kinds[0].as_str().unwrap_or_default(),
        Some(kind) => kind.as_str().unwrap_or_default(),
        None => "",
    };
    match kind {
        "boolean" => json!(draw.one_in(2)),
        "integer" | "number" => {
            let least = schema["minimum"].as_u64().unwrap_or(0);
            json!(least + draw.next(5) as u64)
        }
        "array" if schema["items"].is_object() => {
            let items =
                (0..draw.next(3)).map(|_| of_schema(draw, &schema["items"], whole, depth + 1));
            items.collect()
        }
        "array" => json!([]),
        "object" => {
            let properties = schema["properties"].as_object().into_iter().flatten();
            let fields = properties
                .map(|(name, about)| (name.clone(), of_schema(draw, about, whole, depth + 1)));
            Value::Object(fields.collect())
        }
        _ => draw.of(&[json!("one"), json!("two")]),
    }
}
