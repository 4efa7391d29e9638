//! Answers of the `journal` commands.

use crate::command::prelude::*;
use teamlog_team::engine::journal::{Connector, Durability, JournalInfo};

/// State of a journal and its server.
#[derive(Debug, Serialize, JsonSchema)]
pub struct JournalAnswer {
    /// Name of the journal in journals.toml
    pub name: String,
    /// Id of the journal
    pub journal: String,
    /// Kind of the server that stores the journal: `postgres`
    pub kind: String,
    /// Layer that keeps the copies: `standbys` of the server, or `external` for the storage below the server
    pub durability: String,
    /// Number of servers that must have an event before it is acknowledged
    pub min_copies: u32,
    /// Number of servers that have the latest events now; always 1 with `external`, because external storage shows no copies
    pub copies: u32,
    /// Standbys that must have an event, as the server names them
    pub standby_names: String,
    /// The server's timeline, which rises with each promotion; 0 if the server has none
    pub timeline: u32,
    /// The server's version
    pub server_version: String,
    /// Reasons why the journal is not durable; with at least one reason, nothing is recorded
    pub wrong: Vec<String>,
    /// Properties of the journal that the server does not show
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unverified: Vec<String>,
    /// Comparison of a team's groups in the journal and on this host, with `--deep`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deep: Option<DeepCheck>,
}

/// Comparison of a team's groups in its journal and on this host.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DeepCheck {
    /// The team
    pub team: String,
    /// Groups that were compared
    pub groups: u64,
    /// Last event in the journal, up to the end of this host's log
    pub last_seq: u64,
    /// Last event on this host
    pub here: u64,
    /// Groups that differ
    pub damaged: Vec<DamagedRange>,
    /// Number of groups that were repaired
    pub repaired: u64,
}

/// A group that differs.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DamagedRange {
    /// Seq of the group's first event
    pub first_seq: u64,
    /// Seq of the group's last event
    pub last_seq: u64,
    /// Description of the difference
    pub why: String,
}

impl DeepCheck {
    pub fn fault(&self) -> Option<CommandError> {
        if let Some(first) = self.damaged.first().filter(|_| self.repaired == 0) {
            let message = format!(
                "{} groups of team {} are changed in the journal; the first one has events {} to {}: {}",
                self.damaged.len(),
                self.team,
                first.first_seq,
                first.last_seq,
                first.why
            );
            return Some(CommandError::new(Exit::Damaged, "journal_damaged", message));
        }
        let message = format!(
            "the journal of {} ends with event {}, but this host has all events up to {}",
            self.team, self.last_seq, self.here
        );
        let is_behind = self.last_seq < self.here;
        is_behind.then(|| CommandError::new(Exit::Damaged, "journal_behind", message))
    }
}

/// State of a team's journal.
#[derive(Debug, Serialize, JsonSchema)]
pub struct JournalStatus {
    /// The team
    pub team: String,
    /// Id of the journal
    pub journal: String,
    /// `open`, or the reason why the journal accepts no events
    pub state: String,
    /// Seq of the last event in the journal
    pub last_seq: u64,
    /// Seq of the last event on this host
    pub here: u64,
    /// Number of groups in the journal
    pub groups: u64,
    /// Size of these groups in bytes
    pub bytes: u64,
    /// Hosts that have connected to the journal
    pub hosts: Vec<JournalHost>,
}

/// A host that has connected to a journal.
#[derive(Debug, Serialize, JsonSchema)]
pub struct JournalHost {
    /// Name of the host
    pub host: String,
    /// Id of the host in the journal; several hosts may have the same name
    pub id: String,
    /// Seconds since the host's last connection
    pub seconds_ago: f64,
    /// Seq of the last event that the host had when it last read the journal
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// Number of events in the journal that the host did not have at that time
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lag: Option<u64>,
}

impl JournalAnswer {
    pub fn new(name: String, way: &dyn Connector, shown: JournalInfo) -> JournalAnswer {
        JournalAnswer {
            name,
            kind: way.kind().to_owned(),
            journal: shown.journal,
            durability: shown.durability.name().to_owned(),
            min_copies: shown.min_copies,
            copies: shown.copies,
            standby_names: shown.names,
            timeline: shown.term.number,
            server_version: shown.version,
            wrong: shown.wrong,
            unverified: shown.unverified,
            deep: None,
        }
    }

    pub fn print(self, context: &mut Context) -> Outcome {
        let wrong = self.wrong.join("; ");
        context.answer(&self, JournalAnswer::lines)?;
        if let Some(error) = self.deep.as_ref().and_then(DeepCheck::fault) {
            let hint = match error.code() {
                "journal_behind" => context.command(&format!("journal heal {}", self.team())),
                _ => context.command(&format!("journal check {} --deep --repair", self.team())),
            };
            return Err(error.or_hint(hint));
        }
        match wrong.is_empty() {
            true => Ok(Exit::Done),
            false => Err(CommandError::new(
                Exit::Unsafe,
                "journal_not_durable",
                wrong,
            )),
        }
    }

    pub fn team(&self) -> &str {
        self.deep.as_ref().map_or("TEAM", |deep| &deep.team)
    }

    pub fn lines(&self, view: &View) -> Vec<String> {
        let name = view.paint.show(Style::Bold, visible(&self.name));
        let deep = self.deep.iter().map(|deep| {
            let team = visible(&deep.team);
            let found = format!(
                "{} groups of {team} compared, {} differ",
                deep.groups,
                deep.damaged.len()
            );
            match deep.repaired {
                0 => format!("  {found}"),
                repaired => format!("  {found}, {repaired} put back"),
            }
        });
        let version = visible(&self.server_version);
        let timeline = match self.timeline {
            0 => "timeline not told".to_owned(),
            number => format!("timeline {number}"),
        };
        let copies = match self.durability == Durability::External.name() {
            true => "durability external, copies are not counted".to_owned(),
            false => format!("{} copies, {} wanted", self.copies, self.min_copies),
        };
        let unverified = self.unverified.iter();
        let unverified = unverified.map(|what| format!("  not verified: {}", visible(what)));
        vec![
            format!("{name} is journal {}", visible(&self.journal)),
            format!("  PostgreSQL {version}, {timeline}; {copies}"),
        ]
        .into_iter()
        .chain(unverified)
        .chain(deep)
        .collect()
    }
}

impl JournalStatus {
    pub fn lines(&self, view: &View) -> Vec<String> {
        let team = view.paint.show(Style::Bold, visible(&self.team));
        let behind = match self.last_seq.saturating_sub(self.here) {
            0 => "this host has all of it".to_owned(),
            behind => format!("this host lacks {behind}"),
        };
        let mut lines = vec![
            format!(
                "{team} on journal {}: {}",
                visible(&self.journal),
                visible(&self.state)
            ),
            format!("  up to event {}, {behind}", self.last_seq),
        ];
        lines.extend(self.hosts.iter().map(|seen| {
            let id: String = seen.id.chars().take(8).collect();
            let name = visible(&seen.host);
            let name = match seen.id == seen.host {
                true => name.into_owned(),
                false => format!("{name} ({id})"),
            };
            let lag = match seen.lag {
                None => String::new(),
                Some(0) => ", with all events".to_owned(),
                Some(lag) => format!(", {lag} events behind"),
            };
            format!("  {name} was seen {:.0} s ago{lag}", seen.seconds_ago)
        }));
        lines
    }
}
