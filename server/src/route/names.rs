//! What this surface calls the fields that commands and operations have.

use schemars::Schema;
use serde_json::{Map, Value};
use teamlog_team::api::shape::Shape;

/// Fields whose name here is not theirs in camelCase; where a name has more than one row, the first counts that a route
/// takes. What is written with hyphens is a header, and what stands behind a dot lies in another field.
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

/// The name of an input's field.
pub fn of_input(name: &str) -> String {
    let mut rows = FIELDS.iter().filter(|(_, own)| !own.contains(['-', '.']));
    let row = rows.find(|(field, _)| *field == name);
    row.map_or_else(|| camel(name), |(_, own)| (*own).to_owned())
}

fn camel(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |name, word| {
        let (initial, rest) = word.split_at_checked(1).unwrap_or((word, ""));
        name + &initial.to_uppercase() + rest
    })
}

/// The schema of an input with its fields renamed, and each new name with the old one.
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

/// Gives fields the names that the type of the input has for them.
pub fn restored(fields: &mut Map<String, Value>, pairs: &[(String, String)]) {
    for (new, old) in pairs {
        if let Some(value) = fields.remove(new) {
            fields.insert(old.clone(), value);
        }
    }
}

/// What a route calls a field that commands call `name`, where it has another name for it.
pub fn own_name(name: &str, shape: &Shape) -> Option<String> {
    if shape.field(name).is_some() {
        return None;
    }
    let taken = |own: &String| {
        let outer = own.split('.').next().unwrap_or_default();
        // Every route takes headers.
        own.contains('-') || shape.field(outer).is_some()
    };
    let rows = FIELDS.iter().filter(|(field, _)| *field == name);
    let rows = rows.map(|(_, own)| (*own).to_owned());
    std::iter::once(camel(name)).chain(rows).find(taken)
}

/// A sentence in which the fields have the names that a route has for them. Values stand behind its rule, and stay.
pub fn in_terms_of(shape: &Shape, message: &str) -> String {
    let (rule, rest) = message.split_at(message.find(", but ").unwrap_or(message.len()));
    let words = rule.split(' ').enumerate().map(|(at, word)| {
        let (bare, point) = match word.strip_suffix(',') {
            Some(bare) => (bare, ","),
            None => (word, ""),
        };
        // Within a sentence a word without an underscore is one of the language.
        let named = at == 0 || bare.contains('_');
        let own = own_name(bare, shape).filter(|_| named);
        own.unwrap_or_else(|| bare.to_owned()) + point
    });
    let words: Vec<String> = words.collect();
    words.join(" ") + rest
}
