//! `task`: one task in full, and what may be done to it: made, taken under a claim, finished, given back.

mod edit;

use crate::call::Call;
use crate::command::prelude::*;
use crate::render::attributes::AttributeArgs;
use crate::render::claim;
use edit::Edit;
use serde_json::{Map, Value};
use teamlog_team::api::{self, Op};
use teamlog_team::argv;
use teamlog_team::task;
use teamlog_team::task::change::TaskChange;
use teamlog_team::task::create::TaskCreate;
use teamlog_team::task::finish::TaskFinish;
use teamlog_team::task::resources::SetTaskResources;

actions! {
    Show = "show", of::<task::show::TaskShow>;
    History = "history", of::<task::history::TaskHistory>;
    Create = "create", of::<TaskCreate>;
    Edit = "edit", of::<TaskChange>;
    Next = "next", of::<task::claim_next::ClaimNext>;
    Claim = "claim", of::<task::claim::TaskClaim>;
    Renew = "renew", of::<task::renew::TaskRenew>;
    Complete = "complete", of::<TaskFinish>;
    Fail = "fail", of::<TaskFinish>;
    Release = "release", of::<task::release::TaskRelease>;
    Cancel = "cancel", of::<task::cancel::TaskCancel>;
    Reopen = "reopen", of::<task::reopen::TaskReopen>;
    Resources = "resources", of::<SetTaskResources>;
}

// The task that is meant. (A doc comment would become the text of every command that takes these.)
#[derive(Debug, clap::Args)]
#[group(skip)]
struct Target {
    /// The team
    pub team: String,
    /// The task
    #[arg(value_name = "TASK")]
    pub task_id: String,
}

// What shows that the caller holds the claim. (A doc comment would become the text of every command that takes these.)
#[derive(Debug, clap::Args)]
#[group(skip)]
struct Hold {
    /// The token that the claim was answered with
    #[arg(long, value_name = "TOKEN", required_unless_present = "epoch")]
    pub claim_token: Option<String>,
    /// The claim's number among those of the task, in place of its token
    #[arg(long, value_name = "N", value_parser = super::whole::<u64>)]
    pub epoch: Option<u64>,
    /// Who presents it: with --epoch that must be its holder [default: who is acting]
    #[arg(long, value_name = "AGENT")]
    pub worker: Option<String>,
    /// Even if it is somebody else's: that is recorded, and the epoch must be right all the same
    #[arg(long)]
    pub force: bool,
}

// What may stand beside any change. (A doc comment would become the text of every command that takes these.)
#[derive(Debug, clap::Args)]
#[group(skip)]
struct Request {
    /// Refuse unless the task has that version
    #[arg(long, value_name = "N", value_parser = super::whole::<u64>)]
    pub expected_version: Option<u64>,
    #[command(flatten)]
    stamp: Stamp,
}

/// Show a task, with --history also what happened to it
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog task show demo T-1
  teamlog task show demo T-1 --history --json")]
struct Show {
    /// The team
    team: String,
    /// The task
    #[arg(value_name = "TASK")]
    task_id: String,
    /// Show the events that name the task, superseded ones marked
    #[arg(long)]
    history: bool,
    /// Most events of the history, the newest ones; 0 is all [default: 50]
    #[arg(long, value_name = "N", requires = "history", value_parser = super::whole::<usize>)]
    limit: Option<usize>,
    /// Go on to older events: the next_cursor of the page before
    #[arg(long, value_name = "EVENT_ID", requires = "history")]
    cursor: Option<String>,
    #[command(flatten)]
    at: Past,
}

reads!(
    Show,
    at,
    render::task::card,
    task::show::TaskShow(task_id, history, limit, cursor)
);

/// Show what happened to a task: its newest events, superseded ones marked
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog task history demo T-1
  teamlog task history demo T-1 --limit 20 --json")]
struct History {
    /// The team
    team: String,
    /// The task
    #[arg(value_name = "TASK")]
    task_id: String,
    /// Most events on the page, the newest ones; 0 is all [default: 50]
    #[arg(long, value_name = "N", value_parser = super::whole::<usize>)]
    limit: Option<usize>,
    /// Go on to older events: the next_cursor of the page before
    #[arg(long, value_name = "EVENT_ID")]
    cursor: Option<String>,
    #[command(flatten)]
    at: Past,
}

reads!(
    History,
    at,
    render::task::history,
    task::history::TaskHistory(task_id, limit, cursor)
);

/// Make a task, to be taken under a claim
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog task create demo --subject 'Fix the login'
  teamlog task create demo --subject 'Ship it' --task-id T-9 --blocked-by T-1 --key k-9
  teamlog task create demo --subject 'Write it up' --description-file - < notes.md
  teamlog task create demo --subject 'Mend reading' --resource src/io --resource 'tests/io/*.rs'")]
struct Create {
    /// The team
    team: String,
    /// What it is, in a line
    #[arg(long, value_name = "TEXT")]
    subject: String,
    /// What it is, at length
    #[arg(long, value_name = "TEXT", conflicts_with = "description_file")]
    description: Option<String>,
    /// File that holds the description; - is standard input
    #[arg(long, value_name = "FILE")]
    description_file: Option<PathBuf>,
    /// Its id [default: the next number of the team]
    #[arg(long, value_name = "ID")]
    task_id: Option<String>,
    /// Who is to take it [default: whoever wants it]
    #[arg(long, value_name = "AGENT")]
    owner: Option<String>,
    /// Tasks that must be completed first, separated by commas
    #[arg(long, value_name = "T,U", value_delimiter = ',')]
    blocked_by: Vec<String>,
    /// low, normal, high or critical [default: normal]
    #[arg(long, value_name = "PRIORITY", value_parser = argv::priority)]
    priority: Option<String>,
    /// A path that its holder may write, relative to the repository, with what lies below it; may stand several times
    #[arg(long = "resource", value_name = "PATH")]
    resources: Vec<String>,
    /// Whether others may hold the same paths meanwhile [default: only where the one resource is .]
    #[arg(long, value_name = "true|false", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    shared: Option<bool>,
    #[command(flatten)]
    attributes: AttributeArgs,
    /// More to say of it, a JSON object; kept with the task as it is
    #[arg(long, value_name = "JSON")]
    extra_json: Option<String>,
    #[command(flatten)]
    stamp: Stamp,
}

records!(Create, claim::created, |args, context| TaskCreate {
    subject: args.subject,
    description: match (args.description, args.description_file) {
        (Some(text), _) => text,
        (None, Some(path)) => given::text_of_file(context.env(), "description_file", &path)?,
        (None, None) => String::new(),
    },
    task_id: args.task_id,
    owner: args.owner,
    blocked_by: Some(args.blocked_by).filter(|tasks| !tasks.is_empty()),
    attributes: args.attributes.into(),
    priority: args.priority,
    resources: Some(args.resources).filter(|paths| !paths.is_empty()),
    shared: args.shared,
    extra: extra(args.extra_json.as_deref())?,
});

fn extra(text: Option<&str>) -> Result<Map<String, Value>, CommandError> {
    let fields = given::parsed("extra_json", text.unwrap_or("{}"))?;
    match fields.keys().find(|name| is_known(name)) {
        None => Ok(fields),
        Some(name) => {
            let message = format!(
                "extra_json must be a JSON object, but {name} is not more than what options say"
            );
            Err(CommandError::invalid("extra_json", message))
        }
    }
}

/// Whether the operation has a field of that name, which would get in the way of what options say.
fn is_known(name: &str) -> bool {
    let operation = api::find(TaskCreate::NAME);
    operation.is_some_and(|operation| {
        let fields = operation.shape().fields;
        fields.iter().any(|field| field.name == name)
    })
}

/// Take the best task that is ready for a worker: most urgent first, then oldest
#[derive(Debug, clap::Args)]
#[command(
    long_about = "Take the best task that is ready for a worker: most urgent first, then oldest\n\n\
        Exit code 0 with a task, 1 where nothing is ready.",
    after_help = "\
Examples:
  teamlog task next demo --worker dev
  teamlog task next demo --worker dev --lease-ms 60000 --json"
)]
struct Next {
    /// The team
    team: String,
    /// Who takes it [default: who is acting]
    #[arg(long, value_name = "AGENT")]
    worker: Option<String>,
    /// How long the claim counts unless it is renewed [default: 900000, which is 15 minutes]
    #[arg(long, value_name = "MILLISECONDS", value_parser = super::whole::<u64>)]
    lease_ms: Option<u64>,
    #[command(flatten)]
    stamp: Stamp,
}

impl Next {
    fn run(self, context: &mut Context) -> Outcome {
        let input = task::claim_next::ClaimNext {
            worker: context.agent("--worker", self.worker)?,
            lease_ms: self.lease_ms,
        };
        let answer = self
            .stamp
            .execute(context, &Call::operation(), &self.team, input)?;
        let exit = Exit::Refused.unless(answer.task.is_some());
        context.end(exit, &answer, claim::next)
    }
}

/// Take a task, for a time: what is answered shows later that it is yours
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog task claim demo T-5 --worker dev
  teamlog task claim demo T-5 --worker dev --lease-ms 3600000 --expected-version 1 --json")]
struct Claim {
    #[command(flatten)]
    target: Target,
    /// Who takes it [default: who is acting]
    #[arg(long, value_name = "AGENT")]
    worker: Option<String>,
    /// How long the claim counts unless it is renewed [default: 900000, which is 15 minutes]
    #[arg(long, value_name = "MILLISECONDS", value_parser = super::whole::<u64>)]
    lease_ms: Option<u64>,
    #[command(flatten)]
    request: Request,
}

records!(
    Claim,
    target.team,
    request.stamp,
    claim::claimed,
    |args, context| task::claim::TaskClaim {
        task_id: args.target.task_id,
        worker: context.agent("--worker", args.worker)?,
        expected_version: args.request.expected_version,
        lease_ms: args.lease_ms,
    }
);

/// Prolong the lease of a claim; it is never made shorter
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog task renew demo T-6 --epoch 1
  teamlog task renew demo T-6 --epoch 1 --lease-ms 3600000")]
struct Renew {
    #[command(flatten)]
    target: Target,
    #[command(flatten)]
    hold: Hold,
    /// How long the claim counts from now on at least [default: 900000, which is 15 minutes]
    #[arg(long, value_name = "MILLISECONDS", value_parser = super::whole::<u64>)]
    lease_ms: Option<u64>,
    #[command(flatten)]
    request: Request,
}

records!(
    Renew,
    target.team,
    request.stamp,
    claim::renewed,
    |args, context| task::renew::TaskRenew {
        task_id: args.target.task_id,
        claim_token: args.hold.claim_token,
        epoch: args.hold.epoch,
        worker: args.hold.worker,
        force: args.hold.force,
        lease_ms: args.lease_ms,
        expected_version: args.request.expected_version,
    }
);

/// Complete a claimed task; what waited for it alone is then ready
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog task complete demo T-6 --epoch 1
  teamlog task complete demo T-6 --epoch 1 --result 'on branch fix-login' --key done-6")]
struct Complete {
    #[command(flatten)]
    target: Target,
    #[command(flatten)]
    hold: Hold,
    /// What it brought
    #[arg(long, value_name = "TEXT")]
    result: Option<String>,
    #[command(flatten)]
    request: Request,
}

/// Give a claimed task up as failed; it can be reopened
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog task fail demo T-6 --epoch 1 --error 'the schema is missing'")]
struct Fail {
    #[command(flatten)]
    target: Target,
    #[command(flatten)]
    hold: Hold,
    /// Why
    #[arg(long, value_name = "TEXT")]
    error: Option<String>,
    #[command(flatten)]
    request: Request,
}

records!(
    Complete,
    target.team,
    request.stamp,
    claim::held,
    |args, context| TaskFinish {
        result: args.result,
        ..finish("completed", args.target.task_id, args.hold, &args.request)
    }
);

records!(
    Fail,
    target.team,
    request.stamp,
    claim::held,
    |args, context| TaskFinish {
        error: args.error,
        ..finish("failed", args.target.task_id, args.hold, &args.request)
    }
);

fn finish(to: &str, task_id: String, hold: Hold, request: &Request) -> TaskFinish {
    TaskFinish {
        task_id,
        // Nothing else leads there.
        from: "in_progress".to_owned(),
        to: to.to_owned(),
        claim_token: hold.claim_token,
        epoch: hold.epoch,
        worker: hold.worker,
        force: hold.force,
        expected_version: request.expected_version,
        ..TaskFinish::default()
    }
}

/// Give a claimed task back, for whoever wants it; that is no completion
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog task release demo T-6 --worker dev --epoch 1")]
struct Release {
    #[command(flatten)]
    target: Target,
    #[command(flatten)]
    hold: Hold,
    #[command(flatten)]
    request: Request,
}

records!(
    Release,
    target.team,
    request.stamp,
    claim::held,
    |args, context| task::release::TaskRelease {
        task_id: args.target.task_id,
        worker: context.agent("--worker", args.hold.worker)?,
        claim_token: args.hold.claim_token,
        epoch: args.hold.epoch,
        force: args.hold.force,
        expected_version: args.request.expected_version,
    }
);

/// Cancel a task: it is not to be done
#[derive(Debug, clap::Args)]
#[command(
    long_about = "Cancel a task: it is not to be done\n\nA task that somebody works on is canceled by its holder, who \
        presents the claim, or by the leader with --force.",
    after_help = "\
Examples:
  teamlog task cancel demo T-5 --reason 'no longer wanted'
  teamlog task cancel demo T-6 --epoch 1
  teamlog task cancel demo T-6 --worker leader-fixed --force"
)]
struct Cancel {
    #[command(flatten)]
    target: Target,
    /// Who cancels it [default: who is acting, else the leader, leader-fixed]
    #[arg(long, value_name = "AGENT")]
    worker: Option<String>,
    /// Why
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// The token that the claim was answered with
    #[arg(long, value_name = "TOKEN")]
    claim_token: Option<String>,
    /// The claim's number among those of the task, in place of its token
    #[arg(long, value_name = "N", value_parser = super::whole::<u64>)]
    epoch: Option<u64>,
    /// Even if somebody else works on it: with --claim-token or --epoch, or as the leader; that is recorded
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    request: Request,
}

records!(
    Cancel,
    target.team,
    request.stamp,
    claim::changed,
    |args, context| task::cancel::TaskCancel {
        task_id: args.target.task_id,
        reason: args.reason,
        worker: args.worker.or_else(|| context.actor()),
        claim_token: args.claim_token,
        epoch: args.epoch,
        force: args.force,
        expected_version: args.request.expected_version,
    }
);

/// Make a failed task pending again, for whoever wants it
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog task reopen demo T-7
  teamlog task reopen demo T-7 --worker lead --key again-7")]
struct Reopen {
    #[command(flatten)]
    target: Target,
    /// Who reopens it [default: who is acting]
    #[arg(long, value_name = "AGENT")]
    worker: Option<String>,
    #[command(flatten)]
    request: Request,
}

records!(
    Reopen,
    target.team,
    request.stamp,
    claim::changed,
    |args, context| task::reopen::TaskReopen {
        task_id: args.target.task_id,
        worker: args.worker.or_else(|| context.actor()),
        expected_version: args.request.expected_version,
    }
);

/// Set the paths that a task's holder may write, while nobody works on the task
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("paths").required(true).multiple(true).args(["resources", "none", "shared"]))]
#[command(after_help = "\
Examples:
  teamlog task resources demo T-1 --resource src/io --resource 'tests/io/*.rs'
  teamlog task resources demo T-1 --shared
  teamlog task resources demo T-1 --none")]
struct Resources {
    #[command(flatten)]
    target: Target,
    /// A path that its holder may write, relative to the repository, with what lies below it; may be given several times
    #[arg(long = "resource", value_name = "PATH")]
    resources: Vec<String>,
    /// No paths
    #[arg(long, conflicts_with = "resources")]
    none: bool,
    /// If others may hold the same paths meanwhile
    #[arg(long, value_name = "true|false", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    shared: Option<bool>,
    #[command(flatten)]
    request: Request,
}

records!(
    Resources,
    target.team,
    request.stamp,
    claim::changed,
    |args, _context| SetTaskResources {
        task_id: args.target.task_id,
        resources: Some(args.resources).filter(|paths| args.none || !paths.is_empty()),
        shared: args.shared,
        expected_version: args.request.expected_version,
    }
);
