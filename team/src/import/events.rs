//! `import --events`: an exported log, lossless, into a new team: seqs, ids and times stay what they were.

use crate::handle::staged::StagedTeam;
use crate::handle::team::input_fault;
use crate::import::report::{ImportAnswer, Report};
use crate::import::source::Found;
use crate::log::lines::Lines;
use crate::prelude::*;
use std::io::BufRead;
use std::time::Instant;
use teamlog_engine::{Durability, Format, Json, codec};

/// How events are imported. The team must not exist.
#[derive(Debug, Clone, Default)]
pub struct ImportEvents {
    /// The new team.
    pub team: String,
    /// Its format; `None` is `jsonl`.
    pub format: Option<Format>,
    /// Accept a network or host-shared file system.
    pub allow_network_fs: bool,
}

impl Root {
    /// Imports what [`Team::export`](crate::Team::export) wrote. All lines get in, or the team does not come to be.
    ///
    /// # Errors
    /// `invalid_input` (with the line), `team_exists`, `unsafe_file_system`; I/O.
    pub fn import_events<R: BufRead>(
        &self,
        import: ImportEvents,
        source: &mut R,
    ) -> Result<ImportAnswer> {
        let started = Instant::now();
        names::check_new("team", &import.team)?;
        if self.find(&import.team)?.is_some() {
            return Err(exists(&import.team).into());
        }
        let format = import.format.unwrap_or_default();
        let anywhere = import.allow_network_fs;
        let (aside, mut team) = StagedTeam::begin(self, &import.team, format, "import", anywhere)?;
        let writer = team.lock()?.into_writer(());
        let mut lines = Lines::new(source);
        let mut count = 0;
        while let Some(line) = lines.next()? {
            let event = event(&line.text, count + 1).map_err(|refusal| at(refusal, line.number))?;
            writer
                .append(vec![event], Durability::Buffered)
                .map_err(|error| match input_fault(error) {
                    Failure::Refused(refusal) => at(refusal, line.number).into(),
                    failed => failed,
                })?;
            count += 1;
        }
        writer.close()?;
        if count == 0 {
            return Err(Refusal::new(
                Code::InvalidInput,
                "events must hold an event, but is empty",
            )
            .into());
        }
        team.rehydrate(Default::default(), &mut |_, _| {})?;
        drop(team);
        if !aside.settle()? {
            return Err(exists(&import.team).into());
        }
        let found = Found::Imported {
            created: true,
            count,
            first: (count > 0).then_some(1),
            last: (count > 0).then_some(count),
        };
        Ok(ImportAnswer::new(
            found,
            &import.team,
            Report::default(),
            started,
        ))
    }
}

/// A line as the event that must get `seq`.
fn event(text: &str, seq: u64) -> Result<NewEvent, Refusal> {
    let event: Event<'static> = codec::parse_public_json(text)
        .map_err(|why| Refusal::new(Code::InvalidInput, format!("the line is no event: {why}")))?;
    if event.seq != seq {
        let rule = format!("must be {seq}, as the log has no gap and starts at 1");
        return Err(Refusal::invalid("seq", &event.seq.to_string(), &rule));
    }
    let payload = Json::parse(&event.payload).map_err(|error| {
        Refusal::invalid(
            "payload",
            &event.payload,
            &format!("must be JSON ({error})"),
        )
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

fn exists(team: &str) -> Refusal {
    Refusal::new(
        Code::TeamExists,
        format!("team must be new, but {team:?} exists"),
    )
    .field("team")
    .detail("team", team)
}
