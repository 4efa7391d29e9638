//! `attention`: what somebody has to see to, each with the command that mends it. It reads what waits and what is in
//! somebody's hands, up to a bound of each sort, and nothing of what lies behind.

mod found;

use crate::prelude::*;
use found::FINDERS;

operation! {
    /// List what somebody has to see to, most severe first, each with the command that mends it
    "list-attention": Reads(Attention {
        /// Most items; else 100
        #[schemars(range(min = 1, max = 1_000))]
        limit: Option<usize>,
        /// Minutes without a word after which a task in somebody's hands is stale; else 90
        stale_minutes: Option<u64>,
    }) -> AttentionAnswer = |team, asked| team.attention(&asked)
}

/// Items unless the caller says otherwise.
pub const LISTED: usize = 100;
const LISTED_MAX: usize = 1_000;
const LOOKED_AT: usize = 1_000;
/// Minutes without a word after which a task is stale, unless the caller says otherwise.
const STALE_MINUTES: u64 = 90;

/// `{team, now, items, count, more}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AttentionAnswer {
    /// The team
    pub team: String,
    /// The moment for which leases and deadlines are shown
    pub now: Timestamp,
    /// What somebody has to see to, most severe first
    pub items: Vec<AttentionItem>,
    /// How many are shown
    pub count: usize,
    /// Whether there may be more
    pub more: bool,
}

/// What sort of thing somebody has to see to. Their order is that of the list.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum AttentionKind {
    /// The log is damaged; said by whoever looks after many teams
    Damaged,
    /// A task waits for one that failed or was canceled
    WaitsInVain,
    /// A message became a dead letter
    DeadLetter,
    /// A run of the bootstrap contract was last moved by a violation
    BootstrapBreached,
    /// The lease of a claim ran out, and nobody claimed the task since
    LeaseExpired,
    /// A message was not acknowledged in time
    OverdueAck,
    /// An agent was refused a write
    WriteRefused,
    /// Nothing was heard of a task that somebody has
    StaleTask,
}

/// How much something matters
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AttentionSeverity {
    /// It does not go on by itself
    Error,
    /// It may
    Warning,
}

impl AttentionKind {
    /// How much it matters.
    pub fn severity(self) -> AttentionSeverity {
        match self {
            AttentionKind::Damaged
            | AttentionKind::WaitsInVain
            | AttentionKind::DeadLetter
            | AttentionKind::BootstrapBreached => AttentionSeverity::Error,
            AttentionKind::LeaseExpired
            | AttentionKind::OverdueAck
            | AttentionKind::WriteRefused
            | AttentionKind::StaleTask => AttentionSeverity::Warning,
        }
    }
}

/// Something that somebody has to see to
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AttentionItem {
    /// What sort of thing
    pub kind: AttentionKind,
    /// How much it matters
    pub severity: AttentionSeverity,
    /// What it is, in a line
    pub text: String,
    /// The command line that mends it, as it can be typed
    pub command: String,
    /// The task concerned
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// The agent concerned
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The message concerned
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_id: Option<String>,
    /// The path concerned
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The event that tells of it
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// Since when it is so
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// The tasks that are waited for in vain
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub waits_for: Vec<AttentionWaitsFor>,
}

/// A task that is waited for in vain
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AttentionWaitsFor {
    /// Its id
    pub task_id: String,
    /// Its status
    #[schemars(with = "crate::projections::Status")]
    pub status: &'static str,
}

impl AttentionItem {
    /// An item of which no more is known.
    pub fn new(kind: AttentionKind, text: String, command: String) -> AttentionItem {
        AttentionItem {
            kind,
            severity: kind.severity(),
            text,
            command,
            task_id: None,
            agent: None,
            message_id: None,
            path: None,
            seq: None,
            since: None,
            waits_for: Vec::new(),
        }
    }
}

impl Team {
    /// What somebody has to see to. In a closed team nothing is: nothing can be changed there.
    pub fn attention(&mut self, asked: &Attention) -> Result<AttentionAnswer> {
        let limit = page::within("limit", asked.limit, LISTED, LISTED_MAX)?;
        let (team, now) = (self.name().to_owned(), self.now());
        let minutes = asked.stale_minutes.unwrap_or(STALE_MINUTES);
        let micros = i64::try_from(minutes.saturating_mul(60_000_000)).unwrap_or(i64::MAX);
        let stale_before = now.plus_micros(-micros);
        self.survey(|live, reader| {
            let mut look = Look {
                live,
                reader,
                team: &team,
                now,
                stale_before,
                items: Vec::new(),
                more: false,
            };
            if !live.is_closed()? {
                for find in FINDERS {
                    find(&mut look)?;
                }
            }
            let mut items = look.items;
            items.sort_by_key(|item| item.kind);
            let more = page::cut(&mut items, limit) || look.more;
            Ok(AttentionAnswer {
                team: team.clone(),
                now,
                count: items.len(),
                items,
                more,
            })
        })
    }
}

/// A look at a team, and what was found so far.
struct Look<'a> {
    live: &'a Live,
    reader: &'a Reader,
    team: &'a str,
    now: Timestamp,
    /// A task of which nothing was heard since then is stale.
    stale_before: Timestamp,
    items: Vec<AttentionItem>,
    /// Whether a sort had more entries than are looked at.
    more: bool,
}

impl Look<'_> {
    /// What there is of a sort, up to the bound; one more than that was asked for.
    fn bounded<T>(&mut self, mut found: Vec<T>) -> Vec<T> {
        self.more |= page::cut(&mut found, LOOKED_AT);
        found
    }
}
