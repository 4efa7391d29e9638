//! `import --messages`: imports message envelopes, which are JSON lines in any order.
//!
//! The import makes two passes. The first pass checks every line. From each line, the first pass keeps only the key and the
//! position in the input. The second pass reads the lines again in the order of `(created_at, id)` and records them. A new team is
//! built in a staging directory, so that a failed import leaves no trace.

use crate::handle::staged::StagedTeam;
use crate::handle::team;
use crate::import::report::{ImportAnswer, Report};
use crate::import::source::{Entry, ImportResult, append, index, read};
use crate::log::lines::unreadable;
use crate::operation::prelude::*;
use crate::projections::message::Unapplied;
use crate::projections::team::event::{MembersAdded, TeamCreated, TeamFact};
use crate::task::approval;
use std::io::{BufRead, Seek};
use teamlog_engine::{Head, State, Writer};

/// Options of the import.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct ImportMessages {
    /// Name of the team. A team that does not exist is created as an open team.
    pub team: String,
    /// Format of a new team; `None` means `jsonl`.
    pub format: Option<Format>,
    /// True to give the events the current time. The messages keep their original times.
    pub restamp: bool,
    /// True to write nothing if any line is malformed or a duplicate, or if any status in a message cannot be applied to its
    /// task.
    pub strict: bool,
    /// True to keep no view files for a new team.
    pub no_views: bool,
    /// True to accept a file system on a network for a new team, or a file system that a virtual machine shares with its host.
    pub allow_network_fs: bool,
}

/// Number of message bytes after which an import into an existing team flushes the state into a run.
const FLUSH_BYTES: usize = 2 << 20;

impl Root {
    /// Imports envelopes. In an existing team, skips messages that the team already has. All new messages must be newer than the team's
    /// last event, unless `restamp` is set.
    ///
    /// # Errors
    /// `invalid_input`, `not_newer`, `format_mismatch`, `unsafe_file_system`; I/O.
    pub fn import_messages<R: BufRead + Seek>(
        &self,
        import: ImportMessages,
        source: &mut R,
    ) -> Result<ImportAnswer> {
        let started = Instant::now();
        let mut report = Report::default();
        let answer = match self.find(&import.team)? {
            Some(mut team) => {
                team.check_format(import.format)?;
                team.import_messages(&import, source, &mut report)?
            }
            None => {
                names::check_new("team", &import.team)?;
                self.import_new(&import, source, &mut report)?
            }
        };
        Ok(ImportAnswer::new(answer, &import.team, report, started))
    }

    fn import_new<R: BufRead + Seek>(
        &self,
        import: &ImportMessages,
        source: &mut R,
        report: &mut Report,
    ) -> Result<ImportResult> {
        let latest = (!import.restamp).then(|| self.options().clock.now());
        let mut entries = index(source, latest, report)?;
        note_unapplied(&entries, report);
        if report.rejects(import.strict) || (entries.is_empty() && report.malformed > 0) {
            return Ok(ImportResult::Rejected);
        }
        let (name, format, anywhere) = (&import.team, import.format, import.allow_network_fs);
        let created = TeamCreated {
            leader: None,
            members: agents(&entries),
            open: true,
            views: !import.no_views,
        };
        let event = created.event(DEFAULT_ACTOR, just_before(&entries, import.restamp));
        let recorded = StagedTeam::import(self, name, format, anywhere, |writer| {
            append(writer, event)?;
            let flush = &mut |_: &Writer<()>| Ok(());
            record(writer, &mut entries, import.restamp, source, flush)
        })?;
        let (first, last) = recorded.ok_or_else(|| appeared(name))?;
        Ok(ImportResult::Imported {
            created: true,
            count: entries.len() as u64,
            first,
            last,
        })
    }
}

impl Team {
    fn import_messages<R: BufRead + Seek>(
        &mut self,
        import: &ImportMessages,
        source: &mut R,
        report: &mut Report,
    ) -> Result<ImportResult> {
        let latest = (!import.restamp).then(|| self.options.clock.now());
        let entries = index(source, latest, report)?;
        let (exclusive, live) = self.exclusive()?;
        team::open(&live)?;
        let mut entries = admitted(&live, entries, report)?;
        note_unapplied(&entries, report);
        if report.rejects(import.strict) {
            return Ok(ImportResult::Rejected);
        }
        if !import.restamp {
            check_newer(entries.first(), exclusive.head())?;
        }
        let joining = joining(&live, &entries, import.restamp)?;
        let writer = exclusive.into_writer(live);
        if let Some(joining) = joining {
            append(&writer, joining)?;
        }
        let mut flush = |writer: &Writer<Live>| {
            writer.sync()?;
            Ok(writer.with_state(Live::flush_if_due)?)
        };
        let recorded = record(&writer, &mut entries, import.restamp, source, &mut flush);
        let live = writer.close()?;
        self.keep(live);
        let (first, last) = recorded?;
        Ok(ImportResult::Imported {
            created: false,
            count: entries.len() as u64,
            first,
            last,
        })
    }
}

/// Adds to the report the messages that will be recorded without changing their tasks.
fn note_unapplied(entries: &[Entry], report: &mut Report) {
    for entry in entries.iter().filter(|entry| !entry.unapplied.is_empty()) {
        report.unapplied(entry.line, &entry.unapplied);
    }
}

/// Returns the senders and recipients of the messages, sorted.
fn agents(entries: &[Entry]) -> Vec<String> {
    let names = entries.iter().flat_map(|entry| [&*entry.from, &*entry.to]);
    let names: BTreeSet<&str> = names.collect();
    names.into_iter().map(str::to_owned).collect()
}

/// Returns the time one microsecond before the first message. With `restamp`, returns the current time.
fn just_before(entries: &[Entry], restamp: bool) -> Option<Timestamp> {
    let first = entries.first().filter(|_| !restamp);
    first.map(|entry| entry.created_at.plus_micros(-1))
}

/// Returns the event that adds senders and recipients of the messages to an open team.
fn joining(live: &Live, entries: &[Entry], restamp: bool) -> Result<Option<NewEvent>> {
    let mut members = Vec::new();
    for agent in agents(entries) {
        if membership::joining(live, &agent)?.is_some() {
            members.push(agent);
        }
    }
    if members.is_empty() {
        return Ok(None);
    }
    let mut event = TeamFact::MembersAdded(MembersAdded { members }).event(DEFAULT_ACTOR);
    event.created_at = just_before(entries, restamp);
    Ok(Some(event))
}

/// Appends the messages of the entries. Returns the seqs of the first and the last message.
fn record<S: State, R: BufRead + Seek>(
    writer: &Writer<S>,
    entries: &mut [Entry],
    restamp: bool,
    source: &mut R,
    flush: &mut dyn FnMut(&Writer<S>) -> Result<()>,
) -> Result<(Option<u64>, Option<u64>)> {
    let (mut first, mut last, mut bytes) = (None, None, 0);
    let mut at = source.stream_position().map_err(unreadable)?;
    for entry in entries {
        let message = read(source, &mut at, entry)?;
        let event = message.sent_without(message.created_at, &entry.unapplied);
        let mut event = event.map_err(Refusal::from)?;
        event.created_at = (!restamp).then_some(message.created_at);
        let seq = append(writer, event)?;
        first = first.or(seq);
        last = seq.or(last);
        bytes += entry.len as usize;
        if bytes >= FLUSH_BYTES {
            flush(writer)?;
            bytes = 0;
        }
    }
    Ok((first, last))
}

/// Returns the entries whose messages are new to the team, and whose agents may act in the team.
fn admitted(live: &Live, entries: Vec<Entry>, report: &mut Report) -> Result<Vec<Entry>> {
    let mut gated: BTreeMap<Box<str>, bool> = BTreeMap::new();
    let mut agents: BTreeMap<String, Option<String>> = BTreeMap::new();
    let mut admitted = Vec::with_capacity(entries.len());
    for mut entry in entries {
        if live.message(&entry.id)?.is_some() {
            report.duplicate(entry.line, &entry.id, "the team has it already");
            continue;
        }
        let mut stranger = None;
        for (field, agent) in [("message.from", &entry.from), ("message.to", &entry.to)] {
            stranger = match agents.get(&**agent) {
                Some(known) => stranger.or(known.clone()),
                None => {
                    let known = objection(live, field, agent)?;
                    agents.insert(agent.to_string(), known.clone());
                    stranger.or(known)
                }
            };
        }
        match stranger {
            Some(why) => report.malformed(entry.line, why),
            None => {
                if let Some(id) = &entry.completes
                    && is_gated(live, id, &mut gated)?
                {
                    entry.unapplied.push(Unapplied::unapproved(id));
                }
                admitted.push(entry);
            }
        }
    }
    Ok(admitted)
}

/// Returns true if messages must not complete the task, because the task lacks its required approval. The import cannot change the
/// requirement or the approval, so each task is looked up once.
fn is_gated(live: &Live, task: &str, known: &mut BTreeMap<Box<str>, bool>) -> Result<bool> {
    if let Some(gated) = known.get(task) {
        return Ok(*gated);
    }
    let gated = match live.task(task)? {
        Some(task) => !task.claim_governed && approval::is_missing(live, &task)?,
        None => false,
    };
    known.insert(task.into(), gated);
    Ok(gated)
}

/// Returns the reason why an agent must not act in the team; `None` if the agent may act. Accepts
/// imported names that begin with a hyphen.
fn objection(live: &Live, field: &'static str, agent: &str) -> Result<Option<String>> {
    if live.team()?.is_none_or(|team| team.open) {
        return Ok(None);
    }
    match membership::check_known(live, field, agent) {
        Ok(()) => Ok(None),
        Err(Failure::Refused(refusal)) => Ok(Some(refusal.message)),
        Err(failed) => Err(failed),
    }
}

/// Refuses messages that are not newer than the team's last event.
fn check_newer(first: Option<&Entry>, head: &Head) -> Result<(), Refusal> {
    let (Some(first), Some(last)) = (first, head.last_id) else {
        return Ok(());
    };
    if first.created_at > last.created_at() {
        return Ok(());
    }
    let (at, line, last) = (first.created_at, first.line, last.created_at());
    let message = format!(
        "message.created_at must be later than the team's last event ({last}), but is {at} in line {line}"
    );
    Err(Refusal::new(Code::NotNewer, message)
        .field("message.created_at")
        .hint("import into a new team, or record the messages as of now with --restamp")
        .detail("line", line))
}

fn appeared(team: &str) -> Refusal {
    let message = format!("team {team} was created by another command meanwhile");
    Refusal::new(Code::TeamExists, message).field("team")
}
