//! Reads inputs. Every error names the field, the value and the rule.
//!
//! A field counts as absent if it is `null`, or if it is blank and optional. A query parameter is parsed according to
//! the type of its field. A request may name a team. The named team must then be the team of the token.

use super::endpoint::Route;
use super::names;
use super::parts::Part;
use super::problem::Problem;
use crate::call::{Call, Method};
use crate::caller::Reach;
use serde_json::{Map, Value};
use teamlog_team::api::shape::{Field, Kind, Shape};
use teamlog_team::engine::Json;
use teamlog_team::engine::Point;
use teamlog_team::handle::past;

/// Input field that names the team.
pub const TEAM: &str = "teamId";

/// Input field that names a past point, in routes that support past points.
pub const AT: &str = "at";

/// Maximum number of characters of a value in an error message.
const SHOWN_MAX: usize = 80;

/// A checked input of a call.
pub struct Read {
    /// The fields, with the names of the input's type.
    pub fields: Map<String, Value>,
    /// The body as canonical JSON: keys are sorted and there is no white space.
    pub canonical: String,
    /// The past point that the caller named, if any.
    pub at: Option<Point>,
}

/// Reads the input from path, query and body.
pub fn read(
    route: &Route,
    call: &Call,
    parameters: Vec<(&'static str, String)>,
) -> Result<Read, Problem> {
    let (mut fields, canonical) = match call.method {
        Method::Get => (query(route, call)?, String::new()),
        Method::Post => {
            if let Some((name, _)) = call.query.iter().find(|(name, _)| name != TEAM) {
                let message = format!("{} must be in the body, but is in the query", shown(name));
                return Err(Problem::invalid(name, message));
            }
            check_named_team(call)?;
            let body = body(&call.body)?;
            // `Map` keeps its keys sorted.
            let canonical = serde_json::to_string(&body).unwrap_or_default();
            (body, canonical)
        }
    };
    check_team(&mut fields, call)?;
    let at = match call.method {
        Method::Get => take_point(&mut fields, route)?,
        Method::Post => None,
    };
    let whole = Object {
        shape: &route.shape,
        place: String::new(),
    };
    whole.refuse_unknown(&fields, &given(route), route.id)?;
    whole.drop_absent(&mut fields);
    for (name, value) in parameters {
        fields.insert(name.to_owned(), Value::String(value));
    }
    whole.check(&fields)?;
    check_parts(route, &mut fields)?;
    names::restored(&mut fields, &route.renamed);
    Ok(Read {
        fields,
        canonical,
        at,
    })
}

/// Returns the fields of the query. Empty parameters count as absent.
fn query(route: &Route, call: &Call) -> Result<Map<String, Value>, Problem> {
    let mut fields = Map::new();
    for (name, text) in &call.query {
        let field = route.shape.field(name);
        if field.is_some_and(|field| field.kind == Kind::Texts) {
            add_to_list(&mut fields, name, text);
            continue;
        }
        if fields.contains_key(name) {
            let message = format!("{} must be given once", shown(name));
            return Err(Problem::invalid(name, message));
        }
        let value = match field {
            Some(field) => of_text(field, text),
            None => Value::String(text.clone()),
        };
        fields.insert(name.clone(), value);
    }
    Ok(fields)
}

/// Adds a text to a list. A parameter with a list may be repeated.
fn add_to_list(fields: &mut Map<String, Value>, name: &str, text: &str) {
    let list = fields
        .entry(name)
        .or_insert_with(|| Value::Array(Vec::new()));
    if let Value::Array(list) = list
        && !text.is_empty()
    {
        list.push(Value::from(text));
    }
}

/// Converts the text of a query parameter to the type of its field. Keeps a text that is invalid.
fn of_text(field: &Field, text: &str) -> Value {
    let plain = || Value::String(text.to_owned());
    match field.kind {
        _ if text.is_empty() => Value::Null,
        Kind::Integer { .. } => text.parse::<u64>().map_or_else(|_| plain(), Value::from),
        Kind::Boolean => text.parse::<bool>().map_or_else(|_| plain(), Value::from),
        _ => plain(),
    }
}

/// Parses the body, which must be an object. An empty body counts as an empty object.
fn body(bytes: &[u8]) -> Result<Map<String, Value>, Problem> {
    let malformed = |message: String| Problem::new("invalid_json", message);
    let text = std::str::from_utf8(bytes)
        .map_err(|error| malformed(format!("the body is not UTF-8: {error}")))?;
    if text.trim_ascii().is_empty() {
        return Ok(Map::new());
    }
    let json =
        Json::parse(text).map_err(|error| malformed(format!("the body is not JSON: {error}")))?;
    if let Some(number) = json.rounded_integer() {
        let why =
            format!("the integer {number} in the body has more than 64 bits; send it as a string");
        return Err(malformed(why));
    }
    match serde_json::from_str(json.as_str()) {
        Ok(Value::Object(fields)) => Ok(fields),
        Ok(_) => Err(malformed("the body must be a JSON object".to_owned())),
        Err(error) => Err(malformed(format!("the body is not JSON: {error}"))),
    }
}

/// Checks the team that the query names. Calls with a body are checked too.
fn check_named_team(call: &Call) -> Result<(), Problem> {
    let mut named = call.query.iter().filter(|(name, _)| name == TEAM);
    named.try_for_each(|(_, team)| match is_meant(team, call) {
        true => Ok(()),
        false => Err(another_team(team, &call.team)),
    })
}

/// Returns true if `team` is the team of the call. If the call concerns no team, a caller with access to all teams may name
/// any team.
fn is_meant(team: &str, call: &Call) -> bool {
    team.trim().is_empty()
        || team == call.team
        || (call.team.is_empty() && call.caller.reach == Reach::Root)
}

fn check_team(fields: &mut Map<String, Value>, call: &Call) -> Result<(), Problem> {
    match fields.remove(TEAM) {
        None | Some(Value::Null) => Ok(()),
        Some(Value::String(team)) if is_meant(&team, call) => Ok(()),
        Some(Value::String(team)) => Err(another_team(&team, &call.team)),
        Some(other) => {
            let message = format!("{TEAM} must be a string, but is {}", brief(&other));
            Err(Problem::invalid(TEAM, message))
        }
    }
}

/// Removes the past point from the fields of a query and returns it. Refuses a past point if the route answers only for the
/// present.
fn take_point(fields: &mut Map<String, Value>, route: &Route) -> Result<Option<Point>, Problem> {
    let text = match fields.remove(AT) {
        Some(Value::String(text)) if !text.is_empty() => text,
        _ => return Ok(None),
    };
    if !route.of_any_time {
        let message = format!(
            "{AT} is not supported: {} reads the present state only",
            route.id
        );
        return Err(Problem::invalid(AT, message));
    }
    let point = past::point(&text).map_err(|why| {
        let rule = "must be the seq of an event, or a time in ISO 8601";
        let message = format!("{AT} {rule}, but is {} ({why})", shown(&text));
        Problem::invalid(AT, message)
    })?;
    Ok(Some(point))
}

/// Makes the error for a team that is not the team of the token.
pub fn another_team(team: &str, own: &str) -> Problem {
    let rule = format!("{TEAM} must be the team of the token, {own}");
    Problem::new("team_not_found", format!("{rule}, but is {}", shown(team)))
        .detail("field", TEAM)
        .detail("team", own)
}

/// Returns the names of the fields that a query or a body may contain.
fn given(route: &Route) -> Vec<&str> {
    let names = route.shape.names();
    let own = names.filter(|name| !route.parameters().any(|own| own == *name));
    let at = [AT].into_iter().filter(|_| route.of_any_time);
    [TEAM].into_iter().chain(at).chain(own).collect()
}

/// Checks the objects inside an input.
fn check_parts(route: &Route, fields: &mut Map<String, Value>) -> Result<(), Problem> {
    for part in &route.parts {
        match fields.get_mut(&part.field) {
            Some(Value::Array(items)) => {
                for (at, item) in items.iter_mut().enumerate() {
                    check_part(part, format!("{}[{at}]", part.field), item)?;
                }
            }
            Some(item) => check_part(part, part.field.clone(), item)?,
            None => {}
        }
    }
    Ok(())
}

fn check_part(part: &Part, place: String, item: &mut Value) -> Result<(), Problem> {
    let Value::Object(fields) = item else {
        let message = format!("{place} must be an object, but is {}", brief(item));
        return Err(Problem::invalid(&place, message));
    };
    let known: Vec<&str> = part.shape.names().collect();
    let object = Object {
        shape: &part.shape,
        place: format!("{place}."),
    };
    object.refuse_unknown(fields, &known, &place)?;
    object.drop_absent(fields);
    object.check(fields)
}

/// An object to check: a whole input, or an object inside an input.
struct Object<'a> {
    shape: &'a Shape,
    /// Prefix for the names of the object's fields in messages: empty, or for example `agents[0].`.
    place: String,
}

impl Object<'_> {
    fn refuse_unknown(
        &self,
        fields: &Map<String, Value>,
        known: &[&str],
        of: &str,
    ) -> Result<(), Problem> {
        let mut unknown = fields.keys().filter(|name| !known.contains(&name.as_str()));
        let Some(unknown) = unknown.next().filter(|_| !self.shape.open) else {
            return Ok(());
        };
        let message = format!(
            "unknown field {} of {of}; fields: {}",
            shown(unknown),
            known.join(", ")
        );
        let name = format!("{}{}", self.place, cut(unknown));
        Err(Problem::invalid(&name, message).detail("known", known))
    }

    /// Checks that required fields are present and that every field is valid.
    fn check(&self, fields: &Map<String, Value>) -> Result<(), Problem> {
        let mut required = self.shape.required();
        if let Some(name) = required.find(|name| !fields.contains_key(*name)) {
            let name = format!("{}{name}", self.place);
            return Err(Problem::invalid(&name, format!("{name} is required")));
        }
        for field in &self.shape.fields {
            let Some(value) = fields.get(&field.name) else {
                continue;
            };
            if !field.kind.holds(value) {
                let name = format!("{}{}", self.place, field.name);
                let (rule, found) = (field.kind.rule(), brief(value));
                let message = format!("{name} must be {rule}, but is {found}");
                return Err(Problem::invalid(&name, message));
            }
        }
        Ok(())
    }

    /// Removes fields that count as absent.
    fn drop_absent(&self, fields: &mut Map<String, Value>) {
        for field in &self.shape.fields {
            let absent = match fields.get(&field.name) {
                Some(Value::Null) => true,
                Some(Value::String(text)) => {
                    matches!(field.kind, Kind::Text | Kind::Choice(_)) && text.trim().is_empty()
                }
                _ => false,
            };
            if absent {
                fields.remove(&field.name);
            }
        }
    }
}

/// Formats a value for an error message.
pub fn brief(value: &Value) -> String {
    match value {
        Value::String(text) => shown(text),
        Value::Array(_) => "an array".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        other => other.to_string(),
    }
}

/// Shortens a text for an error message.
pub fn shown(text: &str) -> String {
    format!("{:?}", cut(text))
}

fn cut(text: &str) -> String {
    text.chars().take(SHOWN_MAX).collect()
}
