//! Reader for the data of an event. Every error names the field, the value and the rule.

use super::events::{Field, KEPT};
use super::*;
use std::fmt::Display;

/// Maximum number of domains in a run.
pub const DOMAINS_MAX: usize = 256;

/// Author or recipient of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Participant {
    Lead,
    Core(Core),
    Other(String),
}

impl Participant {
    fn new(name: &str) -> Participant {
        let lower = name.trim().to_lowercase();
        match &*lower.replace('_', "-") {
            "lead" | "leader" | "team-lead" | "leader-fixed" => Participant::Lead,
            "obstruction" | "obstruction-theorist" => Participant::Core(Core::Obstruction),
            "synthesizer" | "synthesiser" => Participant::Core(Core::Synthesizer),
            _ => Participant::Other(name.trim().to_owned()),
        }
    }
}

/// The fields of an event's data, with aliases resolved.
pub struct Fields {
    fields: Map<String, Value>,
    is_message: bool,
}

/// Field under which the unknown fields of a message are kept.
const MESSAGE: &str = "message";
/// Bounds for mistyped fields. An unknown name in a message counts as a mistyped field if the name differs from a known field by at
/// most the first number of letters, and has at least the second number of letters.
const LOOKALIKE: (usize, usize) = (1, 4);

impl Fields {
    /// Returns the fields with aliases resolved, and the extra fields that are only stored. In a message, the extra fields are all
    /// fields that the event does not have.
    pub fn read(
        event: Event,
        data: &Map<String, Value>,
        settled: Option<(&'static str, &'static str)>,
        is_message: bool,
    ) -> Result<(Fields, Map<String, Value>), Refusal> {
        let known = event.row().fields;
        let (mut fields, mut beside, mut rest) = (Map::new(), Map::new(), Map::new());
        // If the data has a field `signal`, that field names the signal, and the field `name` does not.
        let is_named =
            event == Event::Signal && data.get("signal").is_some_and(|name| !name.is_null());
        for (name, value) in data {
            if KEPT.contains(&name.as_str()) {
                beside.insert(name.clone(), value.clone());
                continue;
            }
            let is = |field: &&Field| {
                field.name == name || (!is_named && field.aliases.contains(&name.as_str()))
            };
            let named = match known.iter().find(is) {
                Some(field) => field.name,
                None if event == Event::Signal => name,
                None if is_message && !is_lookalike(event, name) => {
                    rest.insert(name.clone(), value.clone());
                    continue;
                }
                None => return Err(unknown(event, name)),
            };
            if value.is_null() {
                continue;
            }
            if fields.insert(named.to_owned(), value.clone()).is_some() {
                return Err(invalid(named, name, "must be given once"));
            }
        }
        if !rest.is_empty() {
            beside.insert(MESSAGE.to_owned(), rest.into());
        }
        if let Some((name, value)) = settled {
            fields.entry(name).or_insert_with(|| value.into());
        }
        let missing = known
            .iter()
            .find(|field| field.required && !fields.contains_key(field.name));
        match missing {
            Some(field) => {
                let rule = format!("is required for {}", event.name());
                Err(broken(Code::InvalidInput, field.name, &rule))
            }
            None => Ok((Fields { fields, is_message }, beside)),
        }
    }

    /// Checks the field whose value the name of the signal implies. A lead that signs for the core passes, because that breach is
    /// checked later.
    pub fn agree(
        &self,
        event: Event,
        settled: Option<(&'static str, &'static str)>,
    ) -> Result<(), Refusal> {
        let Some((name, wanted)) = settled else {
            return Ok(());
        };
        let given = self.list(name)?.unwrap_or_default();
        let is_wanted = |name: &String| Participant::new(name) == Participant::new(wanted);
        if given.iter().all(is_wanted) || self.is_lead_for_core(event) {
            return Ok(());
        }
        let rule = format!("must be {wanted}, as the signal says");
        Err(invalid(name, given.join(", "), rule))
    }
    /// Returns true if the lead signs a report that only the core may sign.
    pub fn is_lead_for_core(&self, event: Event) -> bool {
        event.is_of_core() && matches!(self.who("by"), Ok(Some(Participant::Lead)))
    }
    pub fn is_message(&self) -> bool {
        self.is_message
    }
    pub fn all(self) -> Map<String, Value> {
        self.fields
    }
    pub fn value(&self, name: &str) -> Option<&Value> {
        self.fields.get(name)
    }
    /// Reads a field with `read`; `None` if it is missing.
    fn typed<T>(
        &self,
        name: &str,
        rule: &str,
        read: impl Fn(&Value) -> Option<T>,
    ) -> Result<Option<T>, Refusal> {
        let read = |value| read(value).ok_or_else(|| invalid(name, value, rule));
        self.fields.get(name).map(read).transpose()
    }
    /// Returns a text field; refuses a blank text.
    pub fn text(&self, name: &str) -> Result<Option<String>, Refusal> {
        let text = |value: &Value| value.as_str().map(|text| text.trim().to_owned());
        let text = self.typed(name, "must be text", text)?;
        Ok(text.filter(|text| !text.is_empty()))
    }
    /// Returns the name of a domain, a message or a team. The field is required.
    pub fn id(&self, name: &'static str) -> Result<String, Refusal> {
        let text = self.text(name)?.unwrap_or_default();
        named(name, &text)?;
        Ok(text)
    }
    /// Like [`Fields::id`], but for an optional field.
    pub fn maybe_id(&self, name: &'static str) -> Result<Option<String>, Refusal> {
        self.text(name)?
            .is_some()
            .then(|| self.id(name))
            .transpose()
    }
    /// Returns a whole number of at least 1.
    pub fn whole(&self, name: &str) -> Result<Option<u32>, Refusal> {
        self.typed(name, "must be a whole number from 1", |value| {
            let number = u32::try_from(value.as_u64()?).ok();
            number.filter(|number| *number > 0)
        })
    }
    pub fn switch(&self, name: &str) -> Result<bool, Refusal> {
        let on = self.typed(name, "must be true or false", Value::as_bool)?;
        Ok(on.unwrap_or_default())
    }
    /// Returns a list of names. The field is an array or a text with commas.
    pub fn list(&self, name: &'static str) -> Result<Option<Vec<String>>, Refusal> {
        let Some(value) = self.fields.get(name) else {
            return Ok(None);
        };
        names_in(name, value).map(Some)
    }
    pub fn values(&self, name: &str) -> Result<Option<Vec<Value>>, Refusal> {
        let values = |value: &Value| value.as_array().cloned();
        self.typed(name, "must be an array", values)
    }
    pub fn map(&self, name: &str) -> Result<Option<Map<String, Value>>, Refusal> {
        let map = |value: &Value| value.as_object().cloned();
        self.typed(name, "must be an object", map)
    }
    pub fn who(&self, name: &str) -> Result<Option<Participant>, Refusal> {
        Ok(self.text(name)?.map(|name| Participant::new(&name)))
    }
    pub fn core(&self, name: &str) -> Result<Option<Core>, Refusal> {
        let core = |value: String| core_named(&value).ok_or_else(|| not_core(name, &value));
        self.text(name)?.map(core).transpose()
    }
    /// Returns core members. The field is an array or one name; `both` and `core` mean both members.
    pub fn cores(&self, name: &'static str) -> Result<Option<Vec<Core>>, Refusal> {
        let Some(names) = self.list(name)? else {
            return Ok(None);
        };
        let mut cores = Vec::new();
        for one in &names {
            match Participant::new(one) {
                Participant::Core(core) => cores.push(core),
                Participant::Other(all) if matches!(&*all, "both" | "core") => {
                    cores.extend(Core::ALL)
                }
                _ => return Err(not_core(name, one)),
            }
        }
        cores.sort_unstable();
        cores.dedup();
        Ok(Some(cores).filter(|cores| !cores.is_empty()))
    }
}

/// Reads a list of names from an array or from a text with commas.
pub fn names_in<'a>(field: &'static str, value: &'a Value) -> Result<Vec<String>, Refusal> {
    let fault = |value: &Value| invalid(field, value, "must be an array of names");
    let texts: Vec<&str> = match value {
        Value::String(text) => text.split(',').collect(),
        Value::Array(values) => {
            let text = |value: &'a Value| value.as_str().ok_or_else(|| fault(value));
            values.iter().map(text).collect::<Result<_, _>>()?
        }
        other => return Err(fault(other)),
    };
    let count = texts.len();
    if count > DOMAINS_MAX {
        let rule = format!("must contain at most {DOMAINS_MAX} names, but contains {count}");
        return Err(broken(Code::TooLarge, field, &rule));
    }
    let mut names = Vec::with_capacity(texts.len());
    for text in texts {
        let text = text.trim();
        named(field, text)?;
        names.push(text.to_owned());
    }
    Ok(names)
}

/// Splits a list of members into core members and others.
pub fn split(members: Vec<String>) -> (Vec<Core>, Vec<String>) {
    let (mut core, mut others) = (Vec::new(), Vec::new());
    for member in members {
        match core_named(&member) {
            Some(one) => core.push(one),
            None => others.push(member),
        }
    }
    (core, others)
}

/// Returns the core member with the given name.
pub fn core_named(name: &str) -> Option<Core> {
    match Participant::new(name) {
        Participant::Core(core) => Some(core),
        _ => None,
    }
}

pub fn invalid(field: &str, value: impl Display, rule: impl Display) -> Refusal {
    Refusal::invalid(format!("data.{field}"), value, rule)
}

fn named(field: &'static str, value: &str) -> Result<(), Refusal> {
    names::check_free(field, value).map_err(|refusal| Refusal {
        message: format!("data.{}", refusal.message),
        ..refusal.field(format!("data.{field}"))
    })
}

fn not_core(field: &str, value: &str) -> Refusal {
    let core = Core::ALL.map(Core::name).join(", ");
    Refusal {
        code: Code::IllegalEvent,
        ..invalid(field, value, format!("must be a core member ({core})"))
    }
}

/// Returns the event's field whose name is most similar to `name`, and the distance between the two names.
fn nearest(event: Event, name: &str) -> Option<(&'static str, usize)> {
    let known = event.row().fields.iter().map(|field| field.name);
    spelling::nearest(name, known.chain(KEPT))
}

fn is_lookalike(event: Event, name: &str) -> bool {
    let (most, fewest) = LOOKALIKE;
    name.len() >= fewest && nearest(event, name).is_some_and(|(_, far)| far <= most)
}

fn unknown(event: Event, name: &str) -> Refusal {
    let near = nearest(event, name).map_or("", |near| near.0);
    let message = format!(
        "data.{} is not a field of {}; did you mean {near}?",
        shown(name).trim_matches('"'),
        event.name()
    );
    let refusal = Refusal::new(Code::InvalidInput, message).field("data");
    refusal.detail("nearest", near)
}

/// The way in which members are launched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// All at once, as a team.
    Team(Method),
    /// One by one, by tasks of the lead.
    ByTask,
}

/// Words for a launch of single members by tasks.
const BY_TASK: [&str; 6] = [
    "task",
    "per_member",
    "per-member",
    "one_by_one",
    "one-by-one",
    "individual",
];

/// Reads the launch method and the launch mode: all members at once, or one by one by tasks.
pub fn how(fields: &Fields) -> Result<Option<How>, Refusal> {
    let by_task = |text: &str| {
        let lower = text.to_lowercase();
        BY_TASK.iter().any(|word| lower.contains(word))
    };
    match fields.text("launch_mode")? {
        Some(mode) if by_task(&mode) => return Ok(Some(How::ByTask)),
        Some(mode) if mode != LAUNCH_MODE => {
            let rule = format!("must be {LAUNCH_MODE}");
            return Err(invalid("launch_mode", &mode, &rule));
        }
        _ => {}
    }
    let Some(text) = fields.text("method")? else {
        return Ok(None);
    };
    if let Some(method) = Method::from_any_case(&text) {
        return Ok(Some(How::Team(method)));
    }
    match by_task(&text) {
        true => Ok(Some(How::ByTask)),
        false => Err(no_method(&text)),
    }
}

pub fn no_method(text: &str) -> Refusal {
    invalid("method", text, Method::rule())
}
