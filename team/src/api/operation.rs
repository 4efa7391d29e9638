//! The table of all operations.

use super::OperationAnswer;
use super::fault::Fault;
use super::input::Request;
use super::rules;
use super::schema;
use super::shape::Shape;
use crate::operation::prelude::*;
use crate::operation::{Effect, Op};
use crate::projections::agent_token::event::AgentScope;
use crate::{
    agent_token, artifact, attention, bootstrap, integrity, lifecycle, log, message, mode,
    ownership, receipt, resource, scripted, search, story, subscription, task, thread, undo, usage,
    worker,
};
use schemars::Schema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use std::sync::{Mutex, PoisonError};

/// Refusal codes of every operation.
const REFUSALS: &[Code] = &[Code::InvalidInput, Code::TeamNotFound];
/// Refusal codes of every operation that records events.
const RECORDING_REFUSALS: &[Code] = &[
    Code::TeamClosed,
    Code::TooLarge,
    Code::IdempotencyKeyReused,
    Code::ResponseTooLarge,
    Code::SyncFailed,
    Code::UnsafeFileSystem,
    Code::ActorMismatch,
    // A retired agent records nothing.
    Code::WorkerNotFound,
];

/// Returns all refusal codes of an operation. `own` are the codes in its record.
pub fn refusals(records: bool, own: &[Code]) -> impl Iterator<Item = Code> {
    let recording = RECORDING_REFUSALS.iter().filter(move |_| records);
    let own = own
        .iter()
        .filter(move |code| !records || !RECORDING_REFUSALS.contains(code));
    REFUSALS.iter().chain(recording).chain(own).copied()
}

#[derive(Debug)]
pub(super) struct Shapes {
    /// All fields, including the common ones.
    pub whole: Shape,
    /// The fields without the common ones.
    pub own: Shape,
}

/// A row of the table.
pub struct Operation {
    /// Name in kebab case.
    pub name: &'static str,
    /// One line of documentation, without a full stop.
    pub doc: &'static str,
    /// Effect on the log.
    pub effect: Effect,
    /// Refusal codes of this operation. The codes that every operation has are not listed here.
    pub refusals: &'static [Code],
    /// Scope that an agent token needs.
    pub scope: AgentScope,
    pub(super) rules: Rules,
    input: fn() -> Schema,
    data: fn() -> Schema,
    read: fn(Value) -> serde_json::Result<Box<dyn Input>>,
    read_text: fn(&str) -> serde_json::Result<Box<dyn Input>>,
    answers_empty: bool,
}

impl Operation {
    /// Carries out the operation on an open team, with the team's control. The input contains the operation's own fields under
    /// their own names, and no common fields.
    ///
    /// # Errors
    /// `invalid_input` if the input does not parse; errors of the operation.
    pub fn execute(&self, team: &mut Team, input: &str) -> Result<Box<RawValue>> {
        let input = (self.read_text)(input);
        let invalid = |error| Refusal::new(Code::InvalidInput, format!("input: {error}"));
        input.map_err(invalid)?.answer(team)
    }

    /// Carries out a request on a team of the root.
    pub(super) fn run(&self, root: &Root, request: Request) -> Result<OperationAnswer, Fault> {
        let input = request.typed(self.read)?;
        let worker = request.worker().filter(|_| self.answers_empty);
        let answered = match root.team(&request.team) {
            Ok(mut team) => {
                team.under(request.control);
                input.answer(&mut team).and_then(|data| {
                    let warning = worker.map(|worker| team.unknown_warning(&worker));
                    Ok((data, warning.transpose()?.flatten(), Some(team)))
                })
            }
            // Without a team, only an operation that records events fails.
            Err(failure) => match failure.refusal() {
                Some(missing) if missing.code == Code::TeamNotFound && !self.mutates() => {
                    let meant = missing.details.get("nearest").and_then(Value::as_str);
                    let warning = membership::unknown_name("team", &request.team, meant);
                    let data = input.answer_empty(missing.clone());
                    data.map(|data| (data, Some(warning), None))
                }
                _ => Err(failure),
            },
        };
        let (data, warning, team) = answered.map_err(|failure| self.fault(&failure))?;
        let data = match warning {
            Some(warning) => warned(&data, &warning).map_err(|error| Fault::broken(&error))?,
            None => data,
        };
        Ok(OperationAnswer { data, team })
    }

    /// Returns the fault of a failed call.
    fn fault(&self, failure: &Failure) -> Fault {
        debug_assert!(
            failure.refusal().is_none_or(|refusal| {
                refusals(self.mutates(), self.refusals).any(|code| code == refusal.code)
            }),
            "{} does not declare the code of {failure:?}",
            self.name
        );
        Fault::from_failure(failure, self.mutates())
    }

    /// Returns true if the operation records events.
    pub fn mutates(&self) -> bool {
        self.effect == Effect::Records
    }
    /// Returns the JSON schema of the input, including the common fields.
    pub fn input_schema(&self) -> Schema {
        rules::complete(self.own_schema(), self.mutates())
    }
    pub(super) fn own_schema(&self) -> Schema {
        (self.input)()
    }
    /// Returns the fields of the input.
    pub fn shape(&self) -> Shape {
        Shape::from_schema(&self.input_schema())
    }
    /// Returns the shapes of the input. Computes the shapes from the schemas only once per operation, because the computation takes
    /// longer than most operations.
    pub(super) fn shapes(&self) -> Arc<Shapes> {
        static READ: Mutex<BTreeMap<&str, Arc<Shapes>>> = Mutex::new(BTreeMap::new());
        let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
        let shapes = read.entry(self.name).or_insert_with(|| {
            let own = Shape::from_schema(&self.own_schema());
            Arc::new(Shapes {
                whole: self.shape(),
                own,
            })
        });
        shapes.clone()
    }
    /// Returns the JSON schema of the answer's data.
    pub fn data_schema(&self) -> Schema {
        (self.data)()
    }
}

impl std::fmt::Debug for Operation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Operation")
            .field("name", &self.name)
            .finish()
    }
}

pub(super) const fn row<O: Op>() -> Operation {
    Operation {
        name: O::NAME,
        doc: O::DOC,
        effect: O::EFFECT,
        refusals: O::REFUSALS,
        scope: O::SCOPE,
        rules: O::RULES,
        input: input_schema::<O>,
        data: match O::ANSWERS_EMPTY {
            true => warned_schema::<O::Data>,
            false => schema::of_answer::<O::Data>,
        },
        read: |input| Ok(Box::new(serde_json::from_value::<O>(input)?)),
        read_text: |input| Ok(Box::new(serde_json::from_str::<O>(input)?)),
        answers_empty: O::ANSWERS_EMPTY,
    }
}

/// A parsed input of any operation.
pub(super) trait Input {
    fn answer(self: Box<Self>, team: &mut Team) -> Result<Box<RawValue>>;
    fn answer_empty(&self, missing: Refusal) -> Result<Box<RawValue>>;
}

impl<O: Op> Input for O {
    fn answer(self: Box<Self>, team: &mut Team) -> Result<Box<RawValue>> {
        json(&self.run(team)?)
    }

    fn answer_empty(&self, missing: Refusal) -> Result<Box<RawValue>> {
        json(&self.without_team(missing)?)
    }
}

/// Serializes an answer. The contract promises that the JSON can be parsed back into the answer's
/// type without loss.
fn json<D: Serialize + DeserializeOwned>(data: &D) -> Result<Box<RawValue>> {
    let answer = serde_json::value::to_raw_value(data).map_err(broken)?;
    debug_assert_eq!(
        reread::<D>(answer.get()).as_deref(),
        Ok(answer.get()),
        "{} loses something of its JSON",
        std::any::type_name::<D>()
    );
    Ok(answer)
}

/// Reads an answer into its type and writes it again.
fn reread<D: Serialize + DeserializeOwned>(answer: &str) -> std::result::Result<String, String> {
    let data = serde_json::from_str::<D>(answer);
    let again = data.and_then(|data| serde_json::to_string(&data));
    again.map_err(|error| error.to_string())
}

fn broken(error: serde_json::Error) -> Failure {
    Error::io("serialise", "the answer")(std::io::Error::other(error)).into()
}

fn input_schema<T: JsonSchema>() -> Schema {
    let settings = SchemaSettings::draft2020_12();
    schema::of::<T>(&mut settings.into_generator())
}

/// An answer's data with a warning.
#[derive(JsonSchema)]
#[schemars(rename = "{D}")]
#[expect(dead_code, reason = "only its schema is used")]
struct WithWarning<D> {
    #[serde(flatten)]
    data: D,
    /// Sentence about a missing team or worker, with similar names
    #[schemars(skip_serializing_if = "Option::is_none")]
    warning: Option<String>,
}

fn warned_schema<T: JsonSchema>() -> Schema {
    schema::of_answer::<WithWarning<T>>()
}

/// Adds a warning to an answer as its last field.
fn warned(data: &RawValue, warning: &str) -> serde_json::Result<Box<RawValue>> {
    let data = data.get();
    let fields = data.strip_suffix('}').unwrap_or(data);
    let comma = if fields == "{" { "" } else { "," };
    let warning = serde_json::to_string(warning)?;
    RawValue::from_string(format!("{fields}{comma}\"warning\":{warning}}}"))
}

/// Returns the operation with the given name. Case does not matter, `_` and `-` are equal, and a leading `team_` is ignored.
pub fn find(name: &str) -> Option<&'static Operation> {
    let lower = name.trim().to_lowercase();
    let bare = lower.strip_prefix("team_").unwrap_or(&lower);
    let kebab = bare.replace('_', "-");
    OPERATIONS.iter().find(|operation| operation.name == kebab)
}

/// Returns the name of an operation that `name` probably misspells.
pub fn meant(name: &str) -> Option<&'static str> {
    let lower = name.trim().to_lowercase();
    let bare = lower.strip_prefix("team_").unwrap_or(&lower);
    spelling::meant(bare, OPERATIONS.iter().map(|operation| operation.name))
}

/// All operations, in the order of the documents.
pub static OPERATIONS: &[Operation] = &[
    // Messages and their delivery.
    row::<message::send_message::SendMessage>(),
    row::<message::broadcast::Broadcast>(),
    row::<message::send::Send>(),
    row::<message::ack::Ack>(),
    row::<message::mailbox_list::MailboxList>(),
    row::<message::mailbox_mark::MarkNotified>(),
    row::<message::mailbox_mark::MarkDelivered>(),
    row::<message::read::Read>(),
    row::<message::wait::Wait>(),
    row::<message::deliveries::DeliveryList>(),
    row::<message::dead_letter::DeadLetterList>(),
    row::<message::dead_letter::DeadLetterRequeue>(),
    row::<message::nudge::Nudge>(),
    // Tasks.
    row::<task::create::TaskCreate>(),
    row::<task::read::ReadTask>(),
    row::<task::list::Tasks>(),
    row::<task::list::ReadTasks>(),
    row::<task::show::TaskShow>(),
    row::<task::history::TaskHistory>(),
    row::<task::ready::Ready>(),
    row::<task::change::TaskChange>(),
    row::<task::resources::SetTaskResources>(),
    row::<task::claim::TaskClaim>(),
    row::<task::claim_next::ClaimNext>(),
    row::<task::renew::TaskRenew>(),
    row::<task::finish::TaskFinish>(),
    row::<task::release::TaskRelease>(),
    row::<ownership::edit::TaskEdit>(),
    row::<ownership::assign::TaskAssignment>(),
    row::<ownership::review::ReviewRequest>(),
    row::<ownership::retire::RetireAgent>(),
    row::<ownership::rename::RenameAgent>(),
    row::<undo::Undo>(),
    row::<task::cancel::TaskCancel>(),
    row::<task::reopen::TaskReopen>(),
    // Threads, and the feed of agents.
    row::<thread::start::ThreadStart>(),
    row::<thread::post::ThreadPost>(),
    row::<thread::comment::TaskComment>(),
    row::<thread::list::ThreadList>(),
    row::<thread::tail::ThreadTail>(),
    row::<thread::search::ThreadSearch>(),
    row::<thread::link::ThreadLink>(),
    row::<message::inbox_feed::InboxFeed>(),
    row::<message::prime::Prime>(),
    row::<resource::can_write::CanWrite>(),
    row::<resource::refused::RefusedWrites>(),
    row::<search::Search>(),
    // Tokens.
    row::<usage::report::ReportUsage>(),
    row::<usage::report::SetBudget>(),
    row::<usage::report::Usage>(),
    row::<usage::series::UsageSeries>(),
    // Artifacts.
    row::<artifact::ArtifactPut>(),
    row::<artifact::ArtifactGet>(),
    row::<artifact::ArtifactList>(),
    // The team.
    row::<lifecycle::read_team::ReadTeam>(),
    row::<lifecycle::manifest::ReadConfig>(),
    row::<lifecycle::manifest::ReadManifest>(),
    row::<lifecycle::config::ConfigList>(),
    row::<lifecycle::config::ConfigGet>(),
    row::<lifecycle::config::ConfigSet>(),
    row::<lifecycle::config::ConfigUnset>(),
    row::<lifecycle::tick::Tick>(),
    row::<agent_token::TokenAdd>(),
    row::<agent_token::TokenList>(),
    row::<agent_token::TokenRevoke>(),
    // Workers.
    row::<worker::record::WriteIdentity>(),
    row::<worker::status::ReadStatus>(),
    row::<worker::status::WriteStatus>(),
    row::<worker::record::ReadHeartbeat>(),
    row::<worker::record::UpdateHeartbeat>(),
    row::<worker::record::WriteInbox>(),
    // Events.
    row::<log::append_event::AppendEvent>(),
    row::<log::append::Append>(),
    row::<log::append_batch::AppendFacts>(),
    row::<log::read_events::ReadEvents>(),
    row::<log::await_event::AwaitEvent>(),
    row::<log::sync_views::SyncViews>(),
    row::<log::events::Events>(),
    row::<log::replay_events::ReplayEvents>(),
    row::<story::trace::Trace>(),
    row::<log::traces::Traces>(),
    row::<log::points::ReadDiff>(),
    // Subscriptions.
    row::<subscription::manage::Subscribe>(),
    row::<subscription::manage::SubscriptionList>(),
    row::<subscription::manage::ShowSubscription>(),
    row::<subscription::fetch::FetchSubscription>(),
    row::<subscription::settle::AckSubscription>(),
    row::<subscription::settle::NakSubscription>(),
    row::<subscription::settle::ReleaseSubscription>(),
    row::<subscription::manage::ReplaySubscription>(),
    row::<subscription::manage::DeleteSubscription>(),
    // Scripted projections.
    row::<scripted::declare::DeclareProjection>(),
    row::<scripted::declare::RemoveProjection>(),
    row::<scripted::read::ListProjections>(),
    row::<scripted::read::ShowProjection>(),
    row::<scripted::check::TestProjection>(),
    // Verification.
    row::<integrity::verify::Verify>(),
    row::<integrity::verify::VerifyLast>(),
    row::<integrity::verify::VerifyStart>(),
    row::<integrity::doctor::DoctorLast>(),
    row::<integrity::doctor::DoctorStart>(),
    row::<receipt::head::ReadHead>(),
    row::<receipt::check::CheckReceipt>(),
    row::<lifecycle::storage::ReadStorage>(),
    // Supervision.
    row::<worker::summary::GetSummary>(),
    row::<lifecycle::status::Status>(),
    row::<worker::who::Who>(),
    row::<attention::Attention>(),
    row::<worker::idle::ReadIdle>(),
    row::<worker::stall::ReadStall>(),
    row::<worker::snapshot::ReadSnapshot>(),
    row::<worker::snapshot::WriteSnapshot>(),
    row::<worker::attention::WriteAttention>(),
    row::<task::approval::ReadApproval>(),
    row::<task::approval::WriteApproval>(),
    // Modes.
    row::<mode::prompt::ModePrompt>(),
    row::<mode::explain::ModeExplain>(),
    row::<lifecycle::machines::Machines>(),
    row::<mode::outcome::ModeOutcome>(),
    row::<mode::start::ModeStart>(),
    row::<mode::write::ModeUpdate>(),
    row::<mode::end::ModeComplete>(),
    row::<mode::end::ModeFail>(),
    row::<mode::end::ModeCancel>(),
    row::<mode::clear::ModeClear>(),
    row::<mode::show::ModeList>(),
    row::<mode::show::ModeShow>(),
    row::<mode::sessions::ModeSessions>(),
    row::<mode::sessions::ModeEndSession>(),
    row::<mode::write::ModeWrite>(),
    row::<mode::state::StateRead>(),
    row::<mode::state::StateListActive>(),
    row::<mode::state::StateGetStatus>(),
    row::<mode::state::StateWrite>(),
    row::<mode::state::StateClear>(),
    // The bootstrap contract.
    row::<bootstrap::start::BootstrapStart>(),
    row::<bootstrap::record::BootstrapRecord>(),
    row::<bootstrap::list::BootstrapList>(),
    row::<bootstrap::show::BootstrapShow>(),
    row::<bootstrap::show::BootstrapEvidence>(),
    row::<bootstrap::record::BootstrapExplain>(),
    // Shutdown and cleanup.
    row::<worker::shutdown::RequestShutdown>(),
    row::<worker::shutdown::ReadAck>(),
    row::<worker::shutdown::WriteAck>(),
    row::<lifecycle::cleanup::Cleanup>(),
    row::<lifecycle::cleanup::OrphanCleanup>(),
];
