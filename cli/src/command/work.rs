//! Short commands for tasks: `add`, `next`, `claim`, `note`, `done`, `fail`, `release`, `drop`, `reopen`, `show`, `edit`, `assign`,
//! `undo`, `review`, `approve`, `reject` and `comment`. Each is a short form of a command of `task`, or of an operation.

use super::task::{complete_create, complete_edit, finish_as};
use super::words;
use crate::command::prelude::*;
use crate::render::claim;
use clap::builder::Resettable;
use teamlog_team::task::finish::TaskFinish;

/// Changes the option of a field into a positional argument.
fn positional(command: clap::Command, id: &'static str, value_name: &'static str) -> clap::Command {
    command.mut_arg(id, |arg| {
        let arg = arg.long(Resettable::Reset).alias(Resettable::Reset);
        arg.required(true).value_name(value_name)
    })
}

pub mod add {
    use super::*;
    use teamlog_team::task::create::TaskCreate;

    subcommands! {
        operation::<TaskCreate>("add", claim::changed)
            .with(complete_create)
            .define(|command| positional(command, "subject", "SUBJECT"))
            .examples("\
  teamlog add 'Fix the login'
  teamlog add 'Write the tests' --after T-1 --owner qa --priority high")
    }
}

pub mod next {
    use super::*;
    use teamlog_team::task::claim_next::ClaimNext;

    subcommands! {
        operation::<ClaimNext>("next", claim::next)
            .agent("worker", |next| &mut next.worker)
            .exit(|answer| Exit::Refused.unless(answer.task.is_some()))
            .below(|answer, team, context| match &answer.task {
                Some(task) => card_below(&task.task_id, team, context),
                None => Ok(Vec::new()),
            })
            .details("Ends with exit code 0 if it claimed a task, and with 1 if no task is ready.")
            .examples("\
  teamlog next --as dev
  teamlog next --as qa --lease-ms 3600000 --json")
    }
}

/// Returns lines with the fields of a task that was just claimed.
fn card_below(
    task_id: &str,
    team: &str,
    context: &mut Context,
) -> Result<Vec<String>, CommandError> {
    let show = teamlog_team::task::show::TaskShow {
        task_id: task_id.to_owned(),
        ..Default::default()
    };
    let answer = context.read(team, show)?;
    Ok(render::task::about(&answer, &context.view()))
}

pub mod take {
    use super::*;
    use teamlog_team::task::claim::TaskClaim;

    subcommands! {
        operation::<TaskClaim>("claim", claim::claimed)
            .agent("worker", |claim| &mut claim.worker)
            .below(|answer, team, context| card_below(&answer.task.task_id, team, context))
            .examples("\
  teamlog claim T-5 --as dev
  teamlog claim 7 --as qa --lease-ms 3600000")
    }
}

// The text of `done` and `fail`. Not a doc comment, because clap would print it in the help of the command.
#[derive(Debug, clap::Args)]
#[group(skip)]
struct ResultText {
    /// Result of the task; - reads it from standard input
    #[arg(value_name = "RESULT")]
    result: Option<String>,
}

#[derive(Debug, clap::Args)]
#[group(skip)]
struct Reason {
    /// Reason; - reads it from standard input
    #[arg(value_name = "WHY", required = true)]
    reason: String,
}

pub mod done {
    use super::*;

    subcommands! {
        operation::<TaskFinish>("done", claim::held)
            .own_claim(|finish| claim_fields!(finish, finish.worker.clone()))
            .with(|finish, ResultText { result }, context| {
                let result = result.map(|text| words::text(&text, "RESULT", context));
                finish.result = result.transpose()?;
                finish_as("completed", finish)
            })
            .examples("\
  teamlog done T-6 'on branch fix-login' --as dev
  teamlog done T-6 --epoch 1 --as dev
  echo 'on branch fix-login' | teamlog done T-6 - --as dev")
    }
}

pub mod fail {
    use super::*;

    subcommands! {
        operation::<TaskFinish>("fail", claim::held)
            .own_claim(|finish| claim_fields!(finish, finish.worker.clone()))
            .with(|finish, Reason { reason }, context| {
                finish.error = Some(words::text(&reason, "WHY", context)?);
                finish_as("failed", finish)
            })
            .examples("\
  teamlog fail T-6 'the schema is missing' --as dev
  teamlog fail T-6 'no access to the server' --epoch 1 --as dev
  echo 'the schema is missing' | teamlog fail T-6 - --as dev")
    }
}

pub mod release {
    use super::*;
    use teamlog_team::task::release::TaskRelease;

    subcommands! {
        operation::<TaskRelease>("release", claim::held)
            .agent("worker", |release| &mut release.worker)
            .own_claim(|release| claim_fields!(release, Some(release.worker.clone())))
            .examples("\
  teamlog release T-6 --as dev
  teamlog release T-6 --as dev --epoch 1")
    }
}

pub mod discard {
    use super::*;
    use teamlog_team::task::cancel::TaskCancel;

    subcommands! {
        operation::<TaskCancel>("drop", claim::changed)
            .agent_if_known("worker", |cancel| &mut cancel.worker)
            .claim_if_own(|cancel| claim_fields!(cancel, cancel.worker.clone()))
            .with(|cancel, NoOptions {}, context| {
                words::replace_dashes([("reason", cancel.reason.as_mut())], context)
            })
            .details("Only its holder, or the leader with --force, can drop a claimed task. Others can use the task again after \
                `teamlog release`.")
            .examples("\
  teamlog drop T-5
  teamlog drop T-5 --reason 'no longer wanted' --as lead")
    }
}

pub mod reopen {
    use super::*;
    use teamlog_team::task::reopen::TaskReopen;

    subcommands! {
        operation::<TaskReopen>("reopen", claim::changed)
            .agent_if_known("worker", |reopen| &mut reopen.worker)
            .details("Only a failed task can be reopened. To continue a completed one, add a task after it: teamlog add SUBJECT \
                --after TASK.")
            .examples("\
  teamlog reopen T-7
  teamlog reopen T-7 --key again-7 --as lead")
    }
}

pub mod show {
    use super::*;
    use teamlog_team::task::show::TaskShow;

    subcommands! {
        operation::<TaskShow>("show", render::task::card)
            .at()
            .with(WholeTexts::apply)
            .examples("\
  teamlog show T-1
  teamlog show T-1 --history")
    }
}

pub mod edit {
    use super::*;
    use teamlog_team::ownership::edit::TaskEdit;

    subcommands! {
        operation::<TaskEdit>("edit", claim::changed)
            .agent_if_known("worker", |edit| &mut edit.worker)
            .with(complete_edit)
            .details("Only the holder, the leader, or any agent with --force can edit a claimed task.")
            .examples("\
  teamlog edit T-5 --priority high --label +ui --due friday
  teamlog edit T-5 --after T-1,T-6")
    }
}

pub mod assign {
    use super::*;
    use teamlog_team::ownership::assign::TaskAssignment;

    subcommands! {
        operation::<TaskAssignment>("assign", claim::assigned)
            .agent_if_known("worker", |assign| &mut assign.worker)
            .with(|assign, Nobody { nobody }, context| match (&assign.owner, nobody) {
                (None, false) => Err(no_agent(&assign.task_id, context)),
                _ => Ok(()),
            })
            .details("A claimed task is taken from its holder by the leader, or with --force. The holder gets a message.")
            .examples("\
  teamlog assign T-5 qa --as lead
  teamlog assign T-5 --nobody --as lead")
    }

    // Not a doc comment, because clap would print it in the help of the command.
    #[derive(Debug, clap::Args)]
    #[group(skip)]
    struct Nobody {
        /// Take the task from its agent, so that any agent can claim it
        #[arg(long, conflicts_with = "owner")]
        nobody: bool,
    }

    /// Returns the error for an assignment that names no agent.
    fn no_agent(task_id: &str, context: &Context) -> CommandError {
        let message = "assign to whom? name an agent, or pass --nobody";
        let line = format!("assign {} --nobody", quoted(task_id));
        CommandError::usage(message).or_hint(context.command(&line))
    }
}

pub mod undo {
    use super::*;
    use teamlog_team::undo::{Undo, UndoAnswer};

    subcommands! {
        operation::<Undo>("undo", shown)
            .agent_if_known("worker", |undo| &mut undo.worker)
            .details("Without EVENT, your last command is reversed. An undo can be undone. Messages and completions cannot.")
            .examples("\
  teamlog edit T-5 --priority high --as lead && teamlog undo --as lead
  teamlog config set demo nudge.idle_seconds 60 --as qa && teamlog undo --as qa")
    }

    fn shown(answer: &UndoAnswer, _: &View) -> Vec<String> {
        let (kind, seq) = (&answer.undone, answer.seq);
        vec![format!(
            "undid {kind} (event {seq}): {}",
            visible(&answer.text)
        )]
    }
}

pub mod review {
    use super::*;
    use teamlog_team::ownership::review::ReviewRequest;

    subcommands! {
        operation::<ReviewRequest>("review", claim::review)
            .agent("worker", |review| &mut review.worker)
            .with(|review, NoOptions {}, context| {
                let text = review.text.take();
                let text = text.map(|text| words::text(&text, "TEXT", context));
                review.text = text.transpose()?;
                Ok(())
            })
            .details("The task then needs an approval before it can be completed; approvals from before do not count. The \
                reviewer gets a message. The claim stays yours until its lease ends.")
            .examples("\
  teamlog review T-6 'on branch fix-login' --as dev
  teamlog review T-6 --to qa --as dev")
    }
}

/// `approve` and `reject`: the decision of a reviewer.
mod decision {
    use super::*;
    use crate::call::Call;
    use teamlog_team::task::approval::{ApprovalWritten, WriteApproval};
    use teamlog_team::{Code, Refusal};

    /// Records the acting agent's decision.
    pub fn record(
        context: &mut Context,
        (team, task_id): (&str, String),
        (status, reason): (&str, String),
    ) -> Outcome {
        let write = WriteApproval {
            task_id: task_id.clone(),
            status: status.to_owned(),
            reviewer: context.agent("--as", None)?,
            decision_reason: reason,
            required: true,
        };
        // Read the task first, because the operation accepts a task that does not exist yet.
        let show = teamlog_team::task::show::TaskShow {
            task_id,
            ..Default::default()
        };
        check_gate(&context.read(team, show)?)?;
        context.records(Repeat::Unsafe);
        let written = context.execute(&Call::operation(), team, write)?;
        context.end(Exit::Done, &written, shown)
    }

    /// Refuses a decision on a task if no completion of the task waits for a decision.
    fn check_gate(shown: &teamlog_team::task::show::TaskShowAnswer) -> Result<(), CommandError> {
        let (task, id) = (&shown.task, &shown.task.task_id);
        if task.requires_approval() {
            return Ok(());
        }
        let message = format!("task {id} requires no approval, so a decision changes nothing");
        let error = CommandError::from(Refusal::new(Code::InvalidTransition, message));
        let hint = "to require an approval, edit the task with --requires-approval";
        Err(error.or_hint(hint))
    }

    fn shown(written: &ApprovalWritten, view: &View) -> Vec<String> {
        let id = view.paint.show(Style::Bold, visible(&written.task_id));
        let note = written.note.as_deref();
        let note = note.map(|note| format!("  {}", visible(note)));
        let line = format!("{id}  {}", written.status.name());
        [line].into_iter().chain(note).collect()
    }
}

pub mod approve {
    use super::*;

    #[derive(Debug, clap::Args)]
    #[command(after_help = "\
Examples:
  teamlog approve T-12 --as lead
  teamlog approve T-12 'the tests pass' --as lead")]
    pub struct Args {
        /// The team
        team: String,
        /// Id of the task
        #[arg(value_name = "TASK")]
        task_id: String,
        /// Reason; - reads it from standard input
        #[arg(
            value_name = "WHY",
            default_value = "approved",
            hide_default_value = true
        )]
        reason: String,
    }

    impl Args {
        pub fn run(self, context: &mut Context) -> Outcome {
            let reason = words::text(&self.reason, "WHY", context)?;
            decision::record(context, (&self.team, self.task_id), ("approved", reason))
        }
    }
}

pub mod reject {
    use super::*;

    #[derive(Debug, clap::Args)]
    #[command(after_help = "\
Examples:
  teamlog reject T-12 'the tests are missing' --as lead
  teamlog reject demo T-12 'no tests' --as lead
  echo 'no tests' | teamlog reject T-12 - --as lead")]
    pub struct Args {
        /// The team
        team: String,
        /// Id of the task
        #[arg(value_name = "TASK")]
        task_id: String,
        /// Reason; - reads it from standard input
        #[arg(value_name = "WHY")]
        reason: String,
    }

    impl Args {
        pub fn run(self, context: &mut Context) -> Outcome {
            let reason = words::text(&self.reason, "WHY", context)?;
            decision::record(context, (&self.team, self.task_id), ("rejected", reason))
        }
    }
}

pub mod comment {
    use super::*;
    use teamlog_team::thread::comment::TaskComment;

    // The text of the comment. Not a doc comment, because clap would print it in the help of the command.
    #[derive(Debug, clap::Args)]
    #[group(skip)]
    struct Text {
        /// The comment; - reads it from standard input
        #[arg(value_name = "TEXT")]
        text: Vec<String>,
    }

    subcommands! {
        operation::<TaskComment>("comment", render::thread::commented)
            .agent("agent", |comment| &mut comment.worker)
            .with(|comment, Text { text }, context| {
                comment.body = words::joined(&text, "TEXT", context)?;
                Ok(())
            })
            .details("The comment is a post in the task's thread; the first comment starts the thread. The owner of the task, the \
                agent that assigned it, and the agents that commented before find it in their inboxes. It changes no status: \
                to report on your work use `teamlog note`.")
            .examples("\
  teamlog comment T-6 'the schema has changed' --as qa
  teamlog comment T-6 please rebase --as lead
  git diff | teamlog comment T-6 - --as qa")
    }
}

pub mod note {
    use super::*;
    use crate::call::Call;
    use crate::render::inbox;
    use teamlog_team::message::send::Send;
    use teamlog_team::message::task_update::TaskUpdate;

    #[derive(Debug, clap::Args)]
    #[command(
        long_about = "Report on a task\n\nThe report is recorded with the task and sent to the agent that assigned the \
            task, else to the leader. It changes no status.",
        after_help = "\
Examples:
  teamlog note T-6 '40 %, needs the schema' --as dev
  teamlog note T-6 'waits for the schema' --blocked --as dev"
    )]
    pub struct Args {
        /// The team
        team: String,
        /// Id of the task
        #[arg(value_name = "TASK")]
        task_id: String,
        /// The report; - reads it from standard input
        #[arg(value_name = "TEXT")]
        text: String,
        /// Recipient [default: the agent that assigned the task, else the leader]
        #[arg(long, value_name = "AGENT")]
        to: Option<String>,
        /// Progress, in your own words
        #[arg(long, value_name = "TEXT")]
        progress: Option<String>,
        /// Report the task as blocked
        #[arg(long, conflicts_with = "unblocked")]
        blocked: bool,
        /// Report the task as no longer blocked
        #[arg(long)]
        unblocked: bool,
    }

    impl Args {
        pub fn run(self, context: &mut Context) -> Outcome {
            let from = context.agent("--as", None)?;
            let show = teamlog_team::task::show::TaskShow {
                task_id: self.task_id.clone(),
                ..Default::default()
            };
            let shown = context.read(&self.team, show)?;
            // A person without an agent's name, such as `user:ada`, receives no messages.
            let assigner = shown.task.assigned_by.filter(|by| !by.contains(':'));
            let leaders = assigner.into_iter().chain([shown.leader]);
            let to = self
                .to
                .or(leaders.into_iter().find(|to| !to.is_empty() && *to != from));
            let update = TaskUpdate {
                note: Some(words::text(&self.text, "TEXT", context)?),
                from,
                to: to.unwrap_or_else(|| teamlog_team::lifecycle::membership::LEADER.to_owned()),
                task_id: self.task_id,
                progress: self.progress,
                blocked: (self.blocked || self.unblocked).then_some(self.blocked),
                ..TaskUpdate::default()
            };
            let send: Send = update.into();
            context.records(Repeat::Unsafe);
            let mut answer = context.execute(&Call::operation(), &self.team, send)?;
            if let Some(kept) = &mut answer.reported {
                context.own_commands(&mut kept.next);
            }
            context.end(Exit::Done, &answer, inbox::reported)
        }
    }
}
