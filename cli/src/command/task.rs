//! `task`: shows a task, and creates, claims, finishes, releases and edits tasks.

use super::words;
use crate::command::prelude::*;
use crate::render::attributes::AttributeArgs;
use crate::render::{claim, task};
use serde_json::{Map, Value};
use teamlog_team::api::{self, Op};
use teamlog_team::ownership::edit::TaskEdit;
use teamlog_team::task::cancel::TaskCancel;
use teamlog_team::task::claim::TaskClaim;
use teamlog_team::task::claim_next::ClaimNext;
use teamlog_team::task::create::TaskCreate;
use teamlog_team::task::finish::TaskFinish;
use teamlog_team::task::history::TaskHistory;
use teamlog_team::task::release::TaskRelease;
use teamlog_team::task::renew::TaskRenew;
use teamlog_team::task::reopen::TaskReopen;
use teamlog_team::task::resources::SetTaskResources;
use teamlog_team::task::show::TaskShow;

subcommands! {
    @examples "\
  teamlog task create demo --subject 'Fix the login'
  teamlog task claim demo T-5 --worker dev";
    SHOW = operation::<TaskShow>("show", task::card)
        .at()
        .with(WholeTexts::apply)
        .about("Show a task; with --history also its newest events")
        .examples("\
  teamlog task show demo T-1
  teamlog task show demo T-1 --history --json");
    HISTORY = operation::<TaskHistory>("history", task::history)
        .at()
        .about("Show the newest events of a task, with superseded ones marked")
        .examples("\
  teamlog task history demo T-1
  teamlog task history demo T-1 --limit 20 --json");
    CREATE = operation::<TaskCreate>("create", claim::created)
        .with(complete_create)
        .about("Create a task")
        .examples("\
  teamlog task create demo --subject 'Fix the login'
  teamlog task create demo --subject 'Ship it' --task-id T-9 --blocked-by T-1 --key k-9
  teamlog task create demo --subject 'Write the tests' --parent 7 --label ui --due friday
  teamlog task create demo --subject 'Write it up' --description-file - < notes.md
  teamlog task create demo --subject 'Mend reading' --resource src/io --resource 'tests/io/*.rs'");
    EDIT = operation::<TaskEdit>("edit", claim::changed)
        .agent_if_known("worker", |edit| &mut edit.worker)
        .with(complete_edit)
        .about("Change the texts, priority, labels, times, parent or dependencies of a task")
        .details("Only the holder, the leader, or any agent with --force can edit a claimed task.")
        .examples("\
  teamlog task edit demo T-5 --subject 'Fix the login, and the logout'
  teamlog task edit demo T-5 --priority high --label +ui,-api --due friday
  teamlog task edit demo T-5 --blocked-by T-1,T-2
  teamlog task edit demo T-5 --requires-approval");
    NEXT = operation::<ClaimNext>("next", claim::next)
        .agent("worker", |next| &mut next.worker)
        .exit(|answer| Exit::Refused.unless(answer.task.is_some()))
        .about("Claim the best ready task: most urgent first, then oldest")
        .details("Ends with exit code 0 if it claimed a task, and with 1 if no task is ready.")
        .examples("\
  teamlog task next demo --worker dev
  teamlog task next demo --worker dev --lease-ms 60000 --json");
    CLAIM = operation::<TaskClaim>("claim", claim::claimed)
        .agent("worker", |claim| &mut claim.worker)
        .about("Claim a task for a limited time; the answer has the token and the epoch of the claim")
        .examples("\
  teamlog task claim demo T-5 --worker dev
  teamlog task claim demo T-5 --worker dev --lease-ms 3600000 --expected-version 1 --json");
    RENEW = operation::<TaskRenew>("renew", claim::renewed)
        .own_claim(|renew| claim_fields!(renew, renew.worker.clone()))
        .about("Extend the lease of a claim; a lease never becomes shorter")
        .examples("\
  teamlog task renew demo T-6 --epoch 1
  teamlog task renew demo T-6 --epoch 1 --lease-ms 3600000");
    COMPLETE = operation::<TaskFinish>("complete", claim::held)
        .own_claim(|finish| claim_fields!(finish, finish.worker.clone()))
        .with(|finish, Completion { mut result }, context| {
            words::replace_dashes([("result", result.as_mut())], context)?;
            finish.result = result;
            finish_as("completed", finish)
        })
        .about("Complete a claimed task")
        .examples("\
  teamlog task complete demo T-6 --epoch 1
  teamlog task complete demo T-6 --epoch 1 --result 'on branch fix-login' --key done-6");
    FAIL = operation::<TaskFinish>("fail", claim::held)
        .own_claim(|finish| claim_fields!(finish, finish.worker.clone()))
        .with(|finish, Failure { mut error }, context| {
            words::replace_dashes([("error", error.as_mut())], context)?;
            finish.error = error;
            finish_as("failed", finish)
        })
        .about("Mark a claimed task as failed; it can be reopened")
        .examples("\
  teamlog task fail demo T-6 --epoch 1 --error 'the schema is missing'
  teamlog task fail demo T-6 --worker dev --json");
    RELEASE = operation::<TaskRelease>("release", claim::held)
        .agent("worker", |release| &mut release.worker)
        .own_claim(|release| claim_fields!(release, Some(release.worker.clone())))
        .about("Release a claimed task for other agents; the task is not completed")
        .examples("\
  teamlog task release demo T-6 --worker dev --epoch 1
  teamlog task release demo T-6 --worker dev --key back-6");
    CANCEL = operation::<TaskCancel>("cancel", claim::changed)
        .agent_if_known("worker", |cancel| &mut cancel.worker)
        .about("Cancel a task")
        .details("A claimed task can be canceled only by its holder, who presents the claim, or by the leader with --force.")
        .examples("\
  teamlog task cancel demo T-5 --reason 'no longer wanted'
  teamlog task cancel demo T-6 --epoch 1
  teamlog task cancel demo T-6 --worker leader-fixed --force");
    REOPEN = operation::<TaskReopen>("reopen", claim::changed)
        .agent_if_known("worker", |reopen| &mut reopen.worker)
        .about("Make a failed task pending again, for any agent")
        .examples("\
  teamlog task reopen demo T-7
  teamlog task reopen demo T-7 --worker lead --key again-7");
    RESOURCES = operation::<SetTaskResources>("resources", claim::changed)
        .with(|set, NoPaths { none }, _| {
            if none {
                set.resources = Some(Vec::new());
            }
            Ok(())
        })
        .about("Set the paths that a task's holder may write, while the task is unclaimed")
        .examples("\
  teamlog task resources demo T-1 --resource src/io --resource 'tests/io/*.rs'
  teamlog task resources demo T-1 --shared
  teamlog task resources demo T-1 --none");
}

// Options of `task create` beside its input. Not a doc comment, because clap would print it in the help of the command.
#[derive(Debug, clap::Args)]
#[group(skip)]
pub(super) struct CreateOptions {
    /// File with the description; - is standard input
    #[arg(long, value_name = "FILE")]
    description_file: Option<PathBuf>,
    #[command(flatten)]
    attributes: AttributeArgs,
    /// More fields of the task, a JSON object; kept unchanged
    #[arg(long, value_name = "JSON")]
    extra_json: Option<String>,
}

pub(super) fn complete_create(
    create: &mut TaskCreate,
    options: CreateOptions,
    context: &mut Context,
) -> Result<(), CommandError> {
    if options.description_file.as_deref() == Some(Path::new("-")) && create.subject == "-" {
        let message =
            "standard input is read only once, but the subject and --description-file are both -";
        return Err(CommandError::usage(message));
    }
    let texts = [
        ("subject", Some(&mut create.subject)),
        ("description", Some(&mut create.description)),
    ];
    words::replace_dashes(texts, context)?;
    if let Some(path) = options.description_file {
        create.description = given::text_of_file(context.env(), "description_file", &path)?;
    }
    create.attributes = options.attributes.into();
    create.extra = extra(options.extra_json.as_deref())?;
    Ok(())
}

fn extra(text: Option<&str>) -> Result<Map<String, Value>, CommandError> {
    let fields = given::parsed("extra_json", text.unwrap_or("{}"))?;
    match fields.keys().find(|name| is_known(name)) {
        None => Ok(fields),
        Some(name) => {
            let message = format!("extra_json cannot set {name}, a known field of tasks");
            Err(CommandError::invalid("extra_json", message))
        }
    }
}

/// Returns true if the operation already has a field `name`, which would conflict with the additional options.
fn is_known(name: &str) -> bool {
    let operation = api::find(TaskCreate::NAME);
    operation.is_some_and(|operation| {
        let fields = operation.shape().fields;
        fields.iter().any(|field| field.name == name)
    })
}

// Options of `task edit` beside its input. Not a doc comment, because clap would print it in the help of the command.
#[derive(Debug, clap::Args)]
#[group(skip)]
pub(super) struct EditOptions {
    /// Remove all dependencies
    #[arg(long, conflicts_with = "blocked_by")]
    unblocked: bool,
    #[command(flatten)]
    attributes: AttributeArgs,
}

/// Completes the input of an edit. Refuses a command line that changes nothing.
pub(super) fn complete_edit(
    change: &mut TaskEdit,
    options: EditOptions,
    context: &mut Context,
) -> Result<(), CommandError> {
    let texts = [
        ("subject", change.subject.as_mut()),
        ("description", change.description.as_mut()),
    ];
    words::replace_dashes(texts, context)?;
    if options.unblocked {
        change.blocked_by = Some(Vec::new());
    }
    change.attributes = options.attributes.into();
    if !change.is_empty() {
        return Ok(());
    }
    let message = "nothing to change: pass --subject, --priority, --label or another option";
    Err(CommandError::usage(message))
}

// Options of `task complete`. Not a doc comment, because clap would print it in the help of the command.
#[derive(Debug, clap::Args)]
#[group(skip)]
struct Completion {
    /// Result of the task
    #[arg(long, value_name = "TEXT")]
    result: Option<String>,
}

// Options of `task fail`. Not a doc comment, because clap would print it in the help of the command.
#[derive(Debug, clap::Args)]
#[group(skip)]
struct Failure {
    /// Reason of the failure
    #[arg(long, value_name = "TEXT")]
    error: Option<String>,
}

pub(super) fn finish_as(status: &str, finish: &mut TaskFinish) -> Result<(), CommandError> {
    // `in_progress` is the only status from which a task can be finished.
    finish.from = "in_progress".to_owned();
    finish.to = status.to_owned();
    Ok(())
}

// Options for removing all paths. Not a doc comment, because clap would print it in the help of the command.
#[derive(Debug, clap::Args)]
#[group(skip)]
#[command(group = clap::ArgGroup::new("paths").required(true).multiple(true).args(["resources", "none", "shared"]))]
struct NoPaths {
    /// Remove all paths
    #[arg(long, conflicts_with = "resources")]
    none: bool,
}
