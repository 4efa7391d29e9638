//! `import --events`: imports an exported log without loss into a new team. Seqs, ids and times stay the same.

use crate::handle::root::team_exists;
use crate::handle::staged::StagedTeam;
use crate::import::report::{ImportAnswer, Report};
use crate::import::source::{ImportResult, append};
use crate::log::lines::Lines;
use crate::log::public_line;
use crate::operation::prelude::*;
use std::io::BufRead;

/// Options of the import. The team must not exist.
#[derive(Debug, Clone, Default)]
pub struct ImportEvents {
    /// The new team.
    pub team: String,
    /// Format of the new log; `None` means `jsonl`.
    pub format: Option<Format>,
    /// True to accept a file system on a network, or a file system that a virtual machine shares with its host.
    pub allow_network_fs: bool,
    /// True to accept the agent tokens in the log, except those that were revoked on this host.
    pub keep_tokens: bool,
}

impl Root {
    /// Imports the output of [`Team::export`](crate::Team::export). Either all lines are imported, or the team is not created.
    ///
    /// # Errors
    /// `invalid_input` (with the line), `team_exists`, `unsafe_file_system`; I/O.
    pub fn import_events<R: BufRead>(
        &self,
        import: ImportEvents,
        source: &mut R,
    ) -> Result<ImportAnswer> {
        let started = Instant::now();
        let name = &import.team;
        self.check_new(name)?;
        let (format, anywhere) = (import.format, import.allow_network_fs);
        let count = StagedTeam::import(self, name, format, anywhere, |writer| {
            let mut lines = Lines::new(source);
            let mut count = 0;
            while let Some(line) = lines.next()? {
                count += 1;
                let event = event(&line.text, count).map_err(Failure::from);
                let appended = event.and_then(|event| append(writer, event));
                appended.map_err(|failure| match failure {
                    Failure::Refused(refusal) => at(refusal, line.number).into(),
                    failed => failed,
                })?;
            }
            if count == 0 {
                let message = "the input has no events";
                return Err(Refusal::new(Code::InvalidInput, message).into());
            }
            self.expect_foreign_tokens(name)?;
            Ok(count)
        })?;
        let count = count.ok_or_else(|| team_exists(name))?;
        let found = ImportResult::Imported {
            created: true,
            count,
            first: Some(1),
            last: Some(count),
        };
        let answer = ImportAnswer::new(found, name, Report::default(), started);
        Ok(ImportAnswer {
            artifacts_without_files: self.team(name)?.artifact_count()?,
            unaccepted_tokens: self.foreign_tokens(name, import.keep_tokens)?,
            ..answer
        })
    }
}

/// Parses a line as the event with the given seq.
fn event(text: &str, seq: u64) -> Result<NewEvent, Refusal> {
    let event: Event<'static> = public_line::parse(text).map_err(|why| {
        let refusal = Refusal::new(Code::InvalidInput, format!("the line is not an event: {why}"));
        match text.contains(r#""redacted":true"#) {
            true => refusal.hint("an export from another machine lacks the claim tokens of other agents; export on the machine of the data root"),
            false => refusal,
        }
    })?;
    if event.seq != seq {
        let rule = format!("must be {seq} (the seqs of a log start at 1 and have no gap)");
        return Err(Refusal::invalid("seq", event.seq, &rule));
    }
    let payload = Json::parse(&event.payload).map_err(|error| {
        let rule = format!("must be JSON ({error})");
        Refusal::invalid("payload", &event.payload, &rule)
    })?;
    let mut new = NewEvent::new(event.kind, event.actor, payload);
    new.refs = event.refs;
    new.schema_version = event.schema_version;
    new.foreign = event.foreign;
    new.created_at = Some(event.created_at);
    new.id = Some(event.id);
    Ok(new)
}

fn at(refusal: Refusal, line: u64) -> Refusal {
    let message = format!("line {line}: {}", refusal.message);
    Refusal { message, ..refusal }.detail("line", line)
}
