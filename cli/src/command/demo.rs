//! `demo`: runs the main use of teamlog in a new directory and checks every statement that it prints.

mod history;

use crate::command::prelude::*;
use crate::random;
use crate::render::table::{Cell, lines, plain, styled};
use crate::render::{event, integrity, timeline};
use history::{REPEATED, Stage, TASK, TEAM, TRACE, Update};
use serde_json::{Value, json};
use std::ops::ControlFlow;
use teamlog_team::engine::Event;
use teamlog_team::lifecycle::status::Status;
use teamlog_team::log::rehydrate::{Rehydrate, RehydrateAnswer};
use teamlog_team::log::replay::Replay;
use teamlog_team::log::verify::VerifyAnswer;
use teamlog_team::message::send::{SendAnswer, SendStatus};
use teamlog_team::story::trace::{Trace, TraceAnswer};
use teamlog_team::task::show::TaskShow;
use teamlog_team::{Team, projections};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog demo
  teamlog demo --dir here")]
pub struct Args {
    /// Directory to create [default: --data-root, else a new temporary directory]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

/// Result of the demo.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Answer {
    /// True if every check passed.
    ok: bool,
    /// Directory of the demo.
    dir: String,
    /// Name of the demo's team.
    team: &'static str,
    /// Number of events in the log of the team.
    events: u64,
    /// Number of bytes of the torn event.
    torn_bytes: usize,
    /// Messages that the recovery printed.
    recovered: Vec<String>,
    /// Digest of the live state.
    live_digest: String,
    /// Digest of the rebuilt state.
    rebuilt_digest: String,
    /// Checks, in the order in which the demo ran them.
    checks: Vec<Check>,
}

/// A statement of the demo, and the result of its check.
#[derive(Debug, Serialize, JsonSchema)]
struct Check {
    /// The statement that the demo prints.
    claim: &'static str,
    /// True if the statement is true.
    holds: bool,
}

impl Args {
    pub fn run(self, context: &mut Context) -> Outcome {
        let wanted = self.dir.or_else(|| context.data_root_flag());
        let dir = fresh_dir(wanted, context.env())?;
        let mut demo = Demo {
            program: context.env().program().unwrap_or("teamlog".into()).into(),
            view: context.view(),
            lines: Vec::new(),
            checks: Vec::new(),
        };
        let answer = demo.tell(&dir)?;
        if context.out.is_json() {
            context.out.json(&answer)?;
        } else {
            context.out.lines(&demo.lines)?;
        }
        Ok(Exit::Refused.unless(answer.ok))
    }
}

struct Demo {
    /// Path of the `teamlog` program.
    program: PathBuf,
    view: View,
    lines: Vec<String>,
    checks: Vec<Check>,
}

impl Demo {
    fn tell(&mut self, dir: &Path) -> Result<Answer, CommandError> {
        self.say(format!(
            "a team's log from first message to proof, in {}",
            dir.display()
        ));
        let stage = Stage::new(dir)?;
        stage.init()?;
        let mut team = stage.root.team(TEAM)?;

        self.chapter("append: two and a half hours of a team of three");
        self.history(&stage, &mut team)?;
        self.chapter("crash: the power goes in the middle of a write");
        let (torn_bytes, recovered) = self.crash(&stage, &mut team, dir)?;
        self.chapter("replay: every event, in order");
        let events = self.replay(&mut team)?;
        self.chapter("trace: one story as a timeline");
        self.trace(&mut team)?;
        self.chapter("rehydrate: live equals rebuilt");
        let (live_digest, rebuilt_digest) = self.rebuild(&mut team)?;
        self.chapter("verify: every byte as it was written");
        self.verify(&team)?;
        team.finish()?;
        self.chapter("your turn");
        self.next(dir);

        Ok(Answer {
            ok: self.checks.iter().all(|check| check.holds),
            dir: dir.display().to_string(),
            team: TEAM,
            events,
            torn_bytes,
            recovered,
            live_digest,
            rebuilt_digest,
            checks: std::mem::take(&mut self.checks),
        })
    }

    fn history(&mut self, stage: &Stage, team: &mut Team) -> Result<(), CommandError> {
        let update = |status, note, message_id, written_at| Update {
            from: "dev",
            task: TASK,
            status,
            note,
            message_id,
            written_at,
        };
        let mut rows = vec![
            sent(&stage.assign(team, 1, TASK, "dev", "Fix the login redirect")?),
            sent(&stage.update(team, 5, update("in_progress", "reproduced it", None, None))?),
            sent(&stage.assign(team, 32, "T-2", "qa", "Try the login on three browsers")?),
        ];
        stage.foreign(team, 68)?;
        rows.push(fact(
            "recorded",
            "ci",
            "ci_run_finished, a kind of its own: kept, traced, moves no state",
        ));
        let done = update("done", "merged", Some(REPEATED), None);
        rows.push(sent(&stage.update(team, 70, done)?));
        let again = stage.update(team, 71, update("done", "merged", Some(REPEATED), None))?;
        rows.push(sent(&again));
        let late = stage.update(
            team,
            75,
            update("in_progress", "80%, earlier", None, Some(50)),
        )?;
        rows.push(sent(&late));
        stage.ack(team, 90)?;
        rows.push(fact("acked", "lead", REPEATED));
        self.say_all(lines(rows, 2, &self.view));
        let status = task_status(team)?;
        self.check(
            "the repeated message changed nothing",
            again.status == SendStatus::Duplicate,
        );
        self.check(
            "the late update rolled nothing back: T-1 is completed",
            status == projections::task::Status::Completed,
        );
        Ok(())
    }

    fn crash(
        &mut self,
        stage: &Stage,
        team: &mut Team,
        dir: &Path,
    ) -> Result<(usize, Vec<String>), CommandError> {
        let before = replayed(team)?;
        let segment = team.head()?.receipt.segment;
        let torn = history::tear(&history::segment(dir, &segment))
            .map_err(|error| CommandError::io("write", &segment, &error))?;
        self.say(format!(
            "  half an event, {torn} bytes, now ends events/{segment}; the next command finds it:"
        ));
        // The crashed process has ended, so open the team again.
        *team = stage.root.team(TEAM)?;
        let passed = Update {
            from: "qa",
            task: "T-2",
            status: "done",
            note: "all three pass",
            message_id: None,
            written_at: None,
        };
        let answer = stage.update(team, 150, passed)?;
        let recovered = stage.root.options().notes.take();
        for line in &recovered {
            let head = self.view.paint.show(Style::Warn, "recovered:");
            self.say(format!("  {head} {}", visible(line)));
        }
        self.say_all(lines([sent(&answer)], 2, &self.view));
        let after = replayed(team)?;
        self.check(
            "the torn bytes are set aside, not dropped",
            kept(team, torn)?,
        );
        self.check(
            "every event acknowledged before the crash is there, unchanged",
            after.starts_with(&before),
        );
        Ok((torn, recovered))
    }

    fn replay(&mut self, team: &mut Team) -> Result<u64, CommandError> {
        let width = self.view.width.map(|width| width.saturating_sub(2));
        let view = View { width, ..self.view };
        let mut shown = Vec::new();
        let events = team.replay(Replay::default(), &mut |event, _| {
            shown.push(format!("  {}", event::line(event, &view)));
            ControlFlow::Continue(())
        })?;
        self.say_all(shown);
        Ok(events)
    }

    fn trace(&mut self, team: &mut Team) -> Result<(), CommandError> {
        let answer: TraceAnswer = team.trace(Trace {
            trace_id: TRACE.to_owned(),
            ..Trace::default()
        })?;
        self.say_indented(timeline::story(&answer, &self.view));
        let events = answer.events.iter();
        let superseded = events.filter(|event| event.marks.superseded).count();
        self.check(
            "the late update is in the story, marked superseded",
            superseded == 1,
        );
        Ok(())
    }

    fn rebuild(&mut self, team: &mut Team) -> Result<(String, String), CommandError> {
        let live = digest(team)?;
        let rebuilt: RehydrateAnswer = team.rehydrate(Rehydrate::default(), &mut |_, _| {})?;
        self.say_indented(integrity::rehydrated(&rebuilt, &self.view));
        self.say(format!("    live digest  {live}"));
        self.check(
            "the live state is byte for byte the rebuilt one",
            live == rebuilt.state_digest,
        );
        Ok((live, rebuilt.state_digest))
    }

    fn verify(&mut self, team: &Team) -> Result<(), CommandError> {
        let answer: VerifyAnswer = team.verify(None)?;
        self.say_indented(integrity::verified(&answer, &self.view));
        self.check("no byte differs from what was acknowledged", answer.ok);
        Ok(())
    }

    fn next(&mut self, dir: &Path) {
        let start = format!(
            "{} --data-root {}",
            quoted(&self.program.display().to_string()),
            quoted(&dir.display().to_string())
        );
        for rest in [
            format!("trace {TEAM} --trace-id {TRACE}"),
            format!("task show {TEAM} {TASK} --history"),
            format!("read {TEAM} --agent lead --unread"),
            format!("replay {TEAM} --json --kind log_tail_quarantined"),
        ] {
            self.say(format!("  {start} {rest}"));
        }
    }

    fn chapter(&mut self, title: &str) {
        self.lines.push(String::new());
        self.lines
            .push(self.view.paint.show(Style::Bold, title).to_string());
    }

    fn say(&mut self, line: impl Into<String>) {
        self.lines.push(line.into());
    }

    fn say_all(&mut self, lines: Vec<String>) {
        self.lines.extend(lines);
    }

    fn say_indented(&mut self, lines: Vec<String>) {
        let indented = lines.into_iter().map(|line| match line.is_empty() {
            true => line,
            false => format!("  {line}"),
        });
        self.lines.extend(indented);
    }

    fn check(&mut self, claim: &'static str, holds: bool) {
        let (style, word) = match holds {
            true => (Style::Good, "ok"),
            false => (Style::Bad, "NOT SO"),
        };
        let word = self.view.paint.show(style, word);
        self.lines.push(format!("  {word}  {claim}"));
        self.checks.push(Check { claim, holds });
    }
}

fn sent(answer: &SendAnswer) -> Vec<Cell> {
    let message = &answer.message;
    let task = message.task_id.as_deref().unwrap_or("-");
    let said = event::said_text(message.payload.as_str());
    vec![
        styled(Style::Dim, event::word(&json!(answer.status))),
        plain(format!("{} -> {}", message.from, message.to)),
        plain(format!("{} {task}  {said}", message.kind.name())),
    ]
}

fn fact(word: &str, who: &str, what: &str) -> Vec<Cell> {
    vec![styled(Style::Dim, word), plain(who), plain(what)]
}

fn task_status(team: &mut Team) -> Result<projections::task::Status, CommandError> {
    let answer = team.task_show(TaskShow {
        task_id: TASK.to_owned(),
        ..TaskShow::default()
    })?;
    Ok(answer.task.status)
}

fn replayed(team: &mut Team) -> Result<Vec<Event<'static>>, CommandError> {
    let mut events = Vec::new();
    team.replay(Replay::default(), &mut |event, _| {
        events.push(event.clone().into_owned());
        ControlFlow::Continue(())
    })?;
    Ok(events)
}

/// Returns true if an event records that `torn` bytes were moved to quarantine.
fn kept(team: &mut Team, torn: usize) -> Result<bool, CommandError> {
    let replay = Replay {
        kind: Some("log_tail_quarantined".to_owned()),
        ..Replay::default()
    };
    let mut lengths = Vec::new();
    team.replay(replay, &mut |event, _| {
        let payload: Value = serde_json::from_str(&event.payload).unwrap_or_default();
        lengths.push(payload["length"].as_u64());
        ControlFlow::Continue(())
    })?;
    Ok(lengths == [u64::try_from(torn).ok()])
}

fn digest(team: &mut Team) -> Result<String, CommandError> {
    let status = team.status(Status {
        digest: true,
        ..Status::default()
    })?;
    Ok(status.state_digest.unwrap_or_default())
}

fn fresh_dir(wanted: Option<PathBuf>, env: &ProcessEnv) -> Result<PathBuf, CommandError> {
    let dir = match wanted {
        Some(dir) => dir,
        None => {
            let random = u32::from_le_bytes(random::bytes()?);
            env.temporary().join(format!("teamlog-demo-{random:08x}"))
        }
    };
    let shown = dir.display().to_string();
    let failed = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => {
            CommandError::invalid("dir", format!("dir {shown} exists already"))
        }
        _ => CommandError::io("create", &shown, &error),
    };
    let above = dir.parent().filter(|above| !above.as_os_str().is_empty());
    above
        .map_or(Ok(()), std::fs::create_dir_all)
        .map_err(failed)?;
    std::fs::create_dir(&dir).map_err(failed)?;
    std::fs::canonicalize(&dir).map_err(|error| CommandError::io("find", &shown, &error))
}
