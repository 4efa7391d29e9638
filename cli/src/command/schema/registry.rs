//! What each command prints under `--json`, and whether it records something in a team: one table from its words to both.
//!
//! Every command stands here, also one that prints no JSON; a test holds the table against what may be typed.

use crate::agents::event::{ContextAnswer, StopAnswer};
use crate::command::all_teams::AllAnswer;
use crate::command::hooks::{HooksAnswer, HooksDoctorAnswer};
use crate::command::setup::SetupAnswer;
use crate::command::verify::VerifiedTeam;
use crate::command::{api, await_event, demo, man, serve, token};
use crate::context::Note;
use crate::exit::ErrorLine;
use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::Value;
use std::borrow::Cow;
use teamlog_team::Recorded;
use teamlog_team::api::Envelope;
use teamlog_team::artifact::{ArtifactGetAnswer, ArtifactListAnswer, ArtifactPutAnswer};
use teamlog_team::backup::restore::RestoreAnswer;
use teamlog_team::backup::take::{BackupAllAnswer, BackupAnswer};
use teamlog_team::bootstrap::list::BootstrapListed;
use teamlog_team::bootstrap::record::{BootstrapExplained, BootstrapRecorded};
use teamlog_team::bootstrap::show::BootstrapShown;
use teamlog_team::bootstrap::start::BootstrapStarted;
use teamlog_team::doctor::DoctorAnswer;
use teamlog_team::doctor::repair::RepairAnswer;
use teamlog_team::engine::Receipt;
use teamlog_team::handle::staging::CleanAnswer;
use teamlog_team::import::report::ImportAnswer;
use teamlog_team::import::team_chat::ChatAnswer;
use teamlog_team::lifecycle::config::{ConfigChangeAnswer, ConfigGetAnswer, ConfigListAnswer};
use teamlog_team::lifecycle::init::InitAnswer;
use teamlog_team::lifecycle::purge::PurgeAnswer;
use teamlog_team::lifecycle::status::StatusAnswer;
use teamlog_team::lifecycle::teams::TeamListed;
use teamlog_team::lifecycle::tick::TickAnswer;
use teamlog_team::log::append::AppendAnswer;
use teamlog_team::log::append_batch::BatchAnswer;
use teamlog_team::log::convert::ConvertAnswer;
use teamlog_team::log::diff::DiffAnswer;
use teamlog_team::log::head::HeadAnswer;
use teamlog_team::log::rehydrate::RehydrateAnswer;
use teamlog_team::log::sync_views::SyncViewsAnswer;
use teamlog_team::log::trace::TraceAnswer;
use teamlog_team::log::traces::TracesAnswer;
use teamlog_team::log::verify::VerifyAnswer;
use teamlog_team::message::ack::AckAnswer;
use teamlog_team::message::dead_letter::{DeadLetterListAnswer, RequeueAnswer};
use teamlog_team::message::nudge::NudgeAnswer;
use teamlog_team::message::prime::PrimeAnswer;
use teamlog_team::message::read::ReadAnswer;
use teamlog_team::message::send::SendAnswer;
use teamlog_team::message::wait::WaitAnswer;
use teamlog_team::mode::clear::ModeCleared;
use teamlog_team::mode::rules::prompt::answer::PromptAnswer;
use teamlog_team::mode::rules::reading::Reading;
use teamlog_team::mode::rules::shown::ModeAnswer;
use teamlog_team::mode::rules::transition::Transition;
use teamlog_team::mode::sessions::{SessionEndedAnswer, SessionsAnswer};
use teamlog_team::mode::show::{ModeListAnswer, ModeShowAnswer};
use teamlog_team::mode::state::{
    ActiveModes, StateCleared, StateShown, StateStatuses, StateWritten,
};
use teamlog_team::projections::bootstrap::Evidence;
use teamlog_team::receipt::keygen::KeygenAnswer;
use teamlog_team::resource::can_write::WriteVerdict;
use teamlog_team::task::claim::ClaimAnswer;
use teamlog_team::task::claim_next::ClaimNextAnswer;
use teamlog_team::task::create::TaskAnswer;
use teamlog_team::task::finish::HolderAnswer;
use teamlog_team::task::list::TasksAnswer;
use teamlog_team::task::ready::ReadyAnswer;
use teamlog_team::task::renew::RenewAnswer;
use teamlog_team::task::show::TaskShowAnswer;
use teamlog_team::thread::post::ThreadPostAnswer;
use teamlog_team::thread::search::ThreadSearchAnswer;
use teamlog_team::thread::start::ThreadAnswer;
use teamlog_team::thread::tail::ThreadTailAnswer;
use teamlog_team::usage::report::UsageAnswer;
use teamlog_team::worker::who::WhoAnswer;

/// What the schema describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Prints {
    /// One line of JSON on standard output.
    Answer,
    /// One line of JSON for each item, on standard output.
    Lines,
    /// Text; there is no schema.
    Text,
    /// One line of JSON on standard error.
    Error,
}

/// A row of the table.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// The words that name the command, behind `teamlog`.
    pub name: &'static str,
    /// What comes out.
    pub prints: Prints,
    /// Whether it records something in a team, and so asks a daemon that has it.
    pub records: bool,
    /// Whether `--receipt` puts a receipt behind the answer.
    receipt: bool,
    describe: fn(&mut SchemaGenerator) -> Schema,
}

/// The table.
pub const ENTRIES: &[Entry] = &[
    recorded::<InitAnswer>("init"),
    recorded::<SendAnswer>("send"),
    recorded::<SendAnswer>("task-assign"),
    recorded::<SendAnswer>("task-update"),
    answer::<ReadAnswer>("read"),
    recorded::<AckAnswer>("ack"),
    recorded::<Either<TickAnswer, AllAnswer<TickAnswer>>>("tick"),
    recorded::<Either<NudgeAnswer, AllAnswer<NudgeAnswer>>>("nudge"),
    answer::<DeadLetterListAnswer>("dead-letter list"),
    recorded::<RequeueAnswer>("dead-letter requeue"),
    answer::<ConfigListAnswer>("config list"),
    answer::<ConfigGetAnswer>("config get"),
    recorded::<ConfigChangeAnswer>("config set"),
    recorded::<ConfigChangeAnswer>("config unset"),
    answer::<TasksAnswer>("tasks"),
    answer::<TaskShowAnswer>("task show"),
    recorded::<TaskAnswer>("task create"),
    recorded::<ClaimNextAnswer>("task next"),
    recorded::<ClaimAnswer>("task claim"),
    recorded::<RenewAnswer>("task renew"),
    recorded::<HolderAnswer>("task complete"),
    recorded::<HolderAnswer>("task fail"),
    recorded::<HolderAnswer>("task release"),
    recorded::<TaskAnswer>("task cancel"),
    recorded::<TaskAnswer>("task reopen"),
    answer::<WriteVerdict>("can-write"),
    text("guard"),
    text("guard exec"),
    answer::<HooksAnswer>("hooks install"),
    answer::<HooksDoctorAnswer>("hooks doctor"),
    answer::<SetupAnswer>("setup"),
    recorded::<BootstrapStarted>("bootstrap start"),
    recorded::<BootstrapRecorded>("bootstrap record"),
    answer::<BootstrapListed>("bootstrap list"),
    answer::<BootstrapShown>("bootstrap show"),
    answer::<Evidence>("bootstrap evidence"),
    answer::<BootstrapExplained>("bootstrap explain"),
    recorded::<ModeAnswer>("mode start"),
    recorded::<ModeAnswer>("mode update"),
    recorded::<ModeAnswer>("mode complete"),
    recorded::<ModeAnswer>("mode fail"),
    recorded::<ModeAnswer>("mode cancel"),
    recorded::<ModeCleared>("mode clear"),
    recorded::<ModeAnswer>("mode write"),
    answer::<ModeListAnswer>("mode list"),
    answer::<ModeShowAnswer>("mode show"),
    answer::<Transition>("mode explain"),
    recorded::<Either<PromptAnswer, ContextAnswer>>("mode prompt"),
    answer::<Either<Reading, StopAnswer>>("mode outcome"),
    answer::<SessionsAnswer>("mode sessions"),
    recorded::<SessionEndedAnswer>("mode end-session"),
    answer::<StateShown>("state read"),
    recorded::<StateWritten>("state write"),
    recorded::<StateCleared>("state clear"),
    answer::<ActiveModes>("state list-active"),
    answer::<StateStatuses>("state get-status"),
    answer::<ReadyAnswer>("ready"),
    recorded::<ThreadAnswer>("thread start"),
    recorded::<ThreadPostAnswer>("thread post"),
    answer::<ThreadTailAnswer>("thread tail"),
    answer::<ThreadSearchAnswer>("thread search"),
    recorded::<ThreadAnswer>("thread link"),
    recorded::<ArtifactPutAnswer>("artifact put"),
    answer::<ArtifactGetAnswer>("artifact get"),
    answer::<ArtifactListAnswer>("artifact list"),
    // Shows only, where neither --report nor --set is given.
    recorded::<UsageAnswer>("usage"),
    answer::<Either<PrimeAnswer, ContextAnswer>>("prime"),
    answer::<WaitAnswer>("wait"),
    answer::<await_event::Answer>("await"),
    answer::<AllAnswer<TeamListed>>("teams"),
    answer::<StatusAnswer>("status"),
    answer::<WhoAnswer>("who"),
    answer::<TracesAnswer>("traces"),
    answer::<TraceAnswer>("trace"),
    lines::<Recorded>("replay"),
    lines::<Recorded>("tail"),
    recorded::<Either<AppendAnswer, BatchAnswer>>("append"),
    answer::<DiffAnswer>("diff"),
    changed::<RehydrateAnswer>("rehydrate"),
    answer::<Either<VerifyAnswer, AllAnswer<VerifiedTeam>>>("verify"),
    answer::<DoctorAnswer>("doctor check"),
    changed::<RepairAnswer>("doctor repair"),
    answer::<CleanAnswer>("doctor clean"),
    answer::<SyncViewsAnswer>("views sync"),
    answer::<HeadAnswer>("head"),
    answer::<KeygenAnswer>("keygen"),
    recorded::<Either<ImportAnswer, ChatAnswer>>("import"),
    lines::<Recorded>("export"),
    recorded::<ConvertAnswer>("convert"),
    answer::<Either<BackupAnswer, BackupAllAnswer>>("backup"),
    recorded::<RestoreAnswer>("restore"),
    changed::<PurgeAnswer>("purge"),
    answer::<Either<serve::Ready, serve::Served>>("serve"),
    answer::<token::Rotated>("token rotate"),
    answer::<demo::Answer>("demo"),
    answer::<Either<super::Listing, AnySchema>>("schema"),
    changed::<Either<Envelope<'static>, Either<api::Listing, api::Schemas>>>("api"),
    text("mcp"),
    text("completions"),
    answer::<man::Answer>("man"),
    Entry {
        prints: Prints::Error,
        ..answer::<ErrorLine<'static>>("error")
    },
    Entry {
        prints: Prints::Error,
        ..answer::<Note<'static>>("note")
    },
];

const fn answer<A: JsonSchema>(name: &'static str) -> Entry {
    Entry {
        name,
        prints: Prints::Answer,
        records: false,
        receipt: false,
        describe: SchemaGenerator::root_schema_for::<A>,
    }
}

const fn recorded<A: JsonSchema>(name: &'static str) -> Entry {
    Entry {
        receipt: true,
        ..changed::<A>(name)
    }
}

/// It records something, and takes no receipt.
const fn changed<A: JsonSchema>(name: &'static str) -> Entry {
    Entry {
        records: true,
        ..answer::<A>(name)
    }
}

const fn lines<A: JsonSchema>(name: &'static str) -> Entry {
    Entry {
        prints: Prints::Lines,
        ..answer::<A>(name)
    }
}

const fn text(name: &'static str) -> Entry {
    Entry {
        prints: Prints::Text,
        ..answer::<AnySchema>(name)
    }
}

/// The row of that name.
pub fn find(name: &str) -> Option<&'static Entry> {
    ENTRIES.iter().find(|entry| entry.name == name)
}

impl Entry {
    /// The schema, JSON Schema 2020-12; `None` where no JSON is printed.
    pub fn schema(&self) -> Option<Schema> {
        if self.prints == Prints::Text {
            return None;
        }
        let mut generator = SchemaSettings::draft2020_12()
            .for_serialize()
            .into_generator();
        let mut schema = (self.describe)(&mut generator);
        if self.receipt {
            let mut receipt = Receipt::json_schema(&mut generator);
            let why = "With `--receipt`: covers at least what was answered.";
            receipt.insert("description".to_owned(), why.into());
            add_field(&mut schema, "receipt", &receipt);
            let replayed = json_schema!({
                "type": "boolean",
                "description": "With a key that is known: true, and the answer is the first one under it; nothing was done now."
            });
            add_field(&mut schema, "replayed", &replayed);
        }
        let title = match self.prints {
            Prints::Error => format!("teamlog --json: a line {} on standard error", self.what()),
            Prints::Lines => format!("teamlog {} --json: each line", self.name),
            _ => format!("teamlog {} --json", self.name),
        };
        schema.insert("title".to_owned(), title.into());
        RecursiveTransform(plain_descriptions).transform(&mut schema);
        RecursiveTransform(absent_is_not_null).transform(&mut schema);
        Some(schema)
    }

    fn what(&self) -> &'static str {
        match self.name {
            "error" => "that says why there is no answer",
            _ => "that says something beside the answer",
        }
    }
}

/// Allows for one more field in the answer, or in each of the answers that it may be.
fn add_field(schema: &mut Schema, name: &str, field: &Schema) {
    let add = |object: &mut Value| {
        if let Some(Value::Object(properties)) = object.get_mut("properties") {
            properties.insert(name.to_owned(), field.clone().to_value());
        }
    };
    let kinds = schema.get("anyOf").and_then(Value::as_array).cloned();
    for kind in kinds.unwrap_or_default() {
        let place = kind.get("$ref").and_then(Value::as_str);
        if let Some(object) = place.and_then(|place| schema.pointer_mut(place)) {
            add(object);
        }
    }
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.insert(name.to_owned(), field.clone().to_value());
    }
}

/// Descriptions come from the documentation of the code, whose links lead nowhere else.
fn plain_descriptions(schema: &mut Schema) {
    if let Some(Value::String(text)) = schema.get_mut("description") {
        *text = text.replace("[`", "`").replace("`]", "`");
    }
}

/// A field that may be left out is left out where it holds nothing; it is never there as `null`.
fn absent_is_not_null(schema: &mut Schema) {
    let required = schema.get("required").cloned().unwrap_or_default();
    let is_required = |name: &String| {
        let names = required.as_array();
        names.is_some_and(|names| names.iter().any(|one| one == name))
    };
    let Some(Value::Object(properties)) = schema.get_mut("properties") else {
        return;
    };
    let optional = properties.iter_mut().filter(|(name, _)| !is_required(name));
    for (_, property) in optional {
        let Some(property) = property.as_object_mut() else {
            continue;
        };
        if let Some(Value::Array(types)) = property.get_mut("type") {
            types.retain(|one| one != "null");
            if let [one] = types.as_slice() {
                let one = one.clone();
                property.insert("type".to_owned(), one);
            }
        }
        if let Some(Value::Array(values)) = property.get_mut("enum") {
            values.retain(|one| !one.is_null());
        }
        if let Some(Value::Array(kinds)) = property.get_mut("anyOf") {
            kinds.retain(|kind| kind.get("type").is_none_or(|name| name != "null"));
        }
    }
}

/// One of two answers, depending on how a command is called.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "it is there to be described")]
enum Either<A, B> {
    One(A),
    Other(B),
}

/// A schema is described by what describes all of them.
struct AnySchema;

impl JsonSchema for AnySchema {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "AnySchema".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({"$ref": "https://json-schema.org/draft/2020-12/schema"})
    }
}
