//! Translates field names between commands and this API.

use schemars::Schema;
use serde_json::{Map, Value};
use teamlog_team::api::shape::Shape;

/// Fields whose name in this API is not the camelCase form of the command's name. If a name has several rows, the
/// first row is used whose API field is a field of the route. An API name with hyphens is a header; `a.b` is the
/// field `b` inside the field `a`.
const FIELDS: [(&str, &str); 13] = [
    ("actor", "agentId"),
    ("agent", "agentId"),
    ("worker", "agentId"),
    ("blocked_by", "deps"),
    ("lease_ms", "ttlMs"),
    ("query", "q"),
    ("subject", "title"),
    ("key", "Idempotency-Key"),
    ("trace_id", "X-Trace-Id"),
    ("max_tokens", "budget.maxTokens"),
    ("hard_limit", "budget.hardLimit"),
    ("soft_limit_tokens", "budget.softLimitTokens"),
    ("per_agent_tokens", "budget.perAgentTokens"),
];

/// Returns the name in this API of an input field.
pub fn of_input(name: &str) -> String {
    let mut rows = FIELDS.iter().filter(|(_, own)| !own.contains(['-', '.']));
    let row = rows.find(|(field, _)| *field == name);
    row.map_or_else(|| camel(name), |(_, own)| (*own).to_owned())
}

/// Returns the name in this API of a field of a subscription's filter. The filter has two agents: the agent that an event names, and
/// its actor.
pub fn of_subscription(name: &str) -> String {
    match name {
        "agent" => "about".to_owned(),
        "actor" => "by".to_owned(),
        name => of_input(name),
    }
}

fn camel(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |name, word| {
        let (initial, rest) = word.split_at_checked(1).unwrap_or((word, ""));
        name + initial.to_uppercase().as_str() + rest
    })
}

/// Renames the fields in the schema of an input. Also returns pairs of the new and the old name.
pub fn renamed(mut schema: Schema, name: fn(&str) -> String) -> (Schema, Vec<(String, String)>) {
    let mut pairs = Vec::new();
    if let Some(Value::Object(fields)) = schema.get_mut("properties") {
        for (old, mut field) in std::mem::take(fields) {
            let new = name(&old);
            if let Some(Value::String(about)) = field.get_mut("description") {
                *about = about.replace("next_cursor", &name("next_cursor"));
            }
            fields.insert(new.clone(), field);
            pairs.push((new, old));
        }
    }
    pairs.retain(|(new, old)| new != old);
    if let Some(Value::Array(required)) = schema.get_mut("required") {
        for field in required {
            *field = name(field.as_str().unwrap_or_default()).into();
        }
    }
    (schema, pairs)
}

/// Renames fields of an input back to the names in the input's type.
pub fn restored(fields: &mut Map<String, Value>, pairs: &[(String, String)]) {
    for (new, old) in pairs {
        if let Some(value) = fields.remove(new) {
            fields.insert(old.clone(), value);
        }
    }
}

/// Returns the name that the route uses for the field `name` of commands. Returns `None` if the route has no such field.
pub fn own_name(name: &str, shape: &Shape) -> Option<String> {
    if shape.field(name).is_some() {
        return None;
    }
    let taken = |own: &String| {
        let outer = own.split('.').next().unwrap_or_default();
        // A header is valid for every route.
        own.contains('-') || shape.field(outer).is_some()
    };
    let rows = FIELDS.iter().filter(|(field, _)| *field == name);
    let rows = rows.map(|(_, own)| (*own).to_owned());
    let rows = rows.chain([of_subscription(name)]);
    std::iter::once(camel(name)).chain(rows).find(taken)
}

/// Replaces field names of commands in a message by the names of the route. Values in the message stay unchanged.
pub fn in_terms_of(shape: &Shape, message: &str) -> String {
    let (rule, rest) = message.split_at(message.find(", but ").unwrap_or(message.len()));
    let words = rule.split(' ').enumerate().map(|(at, word)| {
        let (bare, point) = match word.strip_suffix(',') {
            Some(bare) => (bare, ","),
            None => (word, ""),
        };
        // Inside a sentence, a word without an underscore is an ordinary word, and a pattern such as `[a-z_]` is no name.
        let is_name = bare
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let named = at == 0 || bare.contains('_') && is_name;
        let own = own_name(bare, shape).filter(|_| named);
        own.unwrap_or_else(|| bare.to_owned()) + point
    });
    let words: Vec<String> = words.collect();
    words.join(" ") + rest
}
