//! `attention`: what somebody has to see to, each with the command that mends it. It reads what waits and what is in
//! somebody's hands, up to a bound of each sort, and nothing of what lies behind.

mod agents;
mod approvals;
mod found;
mod tasks;

use crate::operation::prelude::*;
use crate::projections::task::TaskPage;
use found::FINDERS;

operation! {
    /// List what somebody has to see to, most severe first, each with the command that mends it
    "list-attention": Reads(Attention {
        /// Most items; else 100
        // The command line's 0 is all.
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

/// `{team, now, items, count, total, by_kind, more}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AttentionAnswer {
    /// The team
    pub team: String,
    /// The moment for which leases and deadlines are shown
    pub now: Timestamp,
    /// What somebody has to see to, most severe first
    pub items: Vec<AttentionItem>,
    /// How many are shown
    pub count: usize,
    /// Number of items, whatever the limit; at most 1,000 of each kind are counted
    pub total: usize,
    /// Number of items per kind
    pub by_kind: BTreeMap<AttentionKind, usize>,
    /// True if there may be more items than are shown
    pub more: bool,
}

words! {
    /// Kinds of attention items, in the order of the list.
    pub enum AttentionKind in json {
        /// The log is damaged; said by whoever looks after many teams
        Damaged = "damaged",
        /// A task waits for one that failed or was canceled
        WaitsInVain = "waits_in_vain",
        /// A task failed that no other task waits for
        TaskFailed = "task_failed",
        /// A message became a dead letter
        DeadLetter = "dead_letter",
        /// A run of the bootstrap contract was last moved by a violation
        BootstrapBreached = "bootstrap_breached",
        /// The team or an agent used as many tokens as it may
        BudgetUsed = "budget_used",
        /// A reviewer rejected a task that needs the approval
        ApprovalRejected = "approval_rejected",
        /// An agent asked for a decision and got no answer
        QuestionOpen = "question_open",
        /// A message reported a task blocked
        ReportedBlocked = "reported_blocked",
        /// A message was recorded and did not change its task
        NotApplied = "not_applied",
        /// A task waits for one that does not exist
        UnknownDependency = "unknown_dependency",
        /// The owner of an unfinished task never acted in the team
        UnknownOwner = "unknown_owner",
        /// An agent that stopped left unread messages or unfinished tasks
        AgentGone = "agent_gone",
        /// The lease of a claim ran out, and nobody claimed the task since
        LeaseExpired = "lease_expired",
        /// A message was not acknowledged in time
        OverdueAck = "overdue_ack",
        /// An agent was refused a write
        WriteRefused = "write_refused",
        /// A task in progress requires an approval before it is completed, and has none
        ApprovalMissing = "approval_missing",
        /// Nothing was heard of a task that somebody has
        StaleTask = "stale_task",
    }
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
            | AttentionKind::TaskFailed
            | AttentionKind::DeadLetter
            | AttentionKind::BootstrapBreached
            | AttentionKind::BudgetUsed
            | AttentionKind::ApprovalRejected => AttentionSeverity::Error,
            AttentionKind::QuestionOpen
            | AttentionKind::ReportedBlocked
            | AttentionKind::NotApplied
            | AttentionKind::UnknownDependency
            | AttentionKind::UnknownOwner
            | AttentionKind::AgentGone
            | AttentionKind::LeaseExpired
            | AttentionKind::OverdueAck
            | AttentionKind::WriteRefused
            | AttentionKind::ApprovalMissing
            | AttentionKind::StaleTask => AttentionSeverity::Warning,
        }
    }

    /// The cause in words, as a heading over the items of that sort.
    pub fn cause(self) -> &'static str {
        match self {
            AttentionKind::Damaged => "damaged",
            AttentionKind::WaitsInVain => "waits in vain",
            AttentionKind::TaskFailed => "failed",
            AttentionKind::DeadLetter => "dead letter",
            AttentionKind::BootstrapBreached => "bootstrap breached",
            AttentionKind::BudgetUsed => "budget used up",
            AttentionKind::ApprovalRejected => "approval rejected",
            AttentionKind::QuestionOpen => "question without an answer",
            AttentionKind::ReportedBlocked => "reported blocked",
            AttentionKind::NotApplied => "not applied",
            AttentionKind::UnknownDependency => "unknown dependency",
            AttentionKind::UnknownOwner => "unknown owner",
            AttentionKind::AgentGone => "left by an agent that stopped",
            AttentionKind::LeaseExpired => "lease ran out",
            AttentionKind::OverdueAck => "ack overdue",
            AttentionKind::WriteRefused => "write refused",
            AttentionKind::ApprovalMissing => "approval missing",
            AttentionKind::StaleTask => "stale",
        }
    }
}

/// Something that somebody has to see to
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
    /// Its subject
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
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
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waits_for: Vec<AttentionWaitsFor>,
}

/// A task that is waited for in vain
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AttentionWaitsFor {
    /// Its id
    pub task_id: String,
    /// Its status
    pub status: Status,
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
            title: None,
            agent: None,
            message_id: None,
            path: None,
            seq: None,
            since: None,
            waits_for: Vec::new(),
        }
    }

    /// An item about a task, last changed by its newest event.
    fn of_task(kind: AttentionKind, task: &Task, text: String, command: String) -> AttentionItem {
        AttentionItem {
            task_id: Some(task.task_id.clone()),
            title: task.subject.clone(),
            agent: task.owner.clone(),
            seq: Some(task.seq),
            ..AttentionItem::new(kind, text, command)
        }
    }
}

impl AttentionAnswer {
    /// An answer that holds the most severe items, up to a limit.
    fn new(team: &str, now: Timestamp, items: Vec<AttentionItem>, limit: usize) -> AttentionAnswer {
        let mut answer = AttentionAnswer {
            team: team.to_owned(),
            now,
            items,
            count: 0,
            total: 0,
            by_kind: BTreeMap::new(),
            more: false,
        };
        answer.items.sort_by_key(|item| item.kind);
        for item in &answer.items {
            *answer.by_kind.entry(item.kind).or_default() += 1;
        }
        answer.total = answer.items.len();
        answer.more = page::cut(&mut answer.items, limit);
        answer.count = answer.items.len();
        answer
    }

    /// Adds an item in front, in the place of the last one if the list is full.
    pub fn add_first(&mut self, item: AttentionItem, asked: &Attention) {
        *self.by_kind.entry(item.kind).or_default() += 1;
        self.total += 1;
        self.items.insert(0, item);
        let limit = page::limit(asked.limit, LISTED);
        self.more |= page::cut(&mut self.items, limit);
        self.count = self.items.len();
    }

    /// An answer about a team of which nothing can be read.
    pub fn unreadable(team: &str, now: Timestamp) -> AttentionAnswer {
        let empty = AttentionAnswer::new(team, now, Vec::new(), 0);
        AttentionAnswer {
            more: true,
            ..empty
        }
    }
}

impl Team {
    /// What somebody has to see to. In a closed team nothing is: nothing can be changed there.
    pub fn attention(&mut self, asked: &Attention) -> Result<AttentionAnswer> {
        let limit = match asked.limit {
            Some(0) => usize::MAX,
            limit => page::within("limit", limit, LISTED, LISTED_MAX)?,
        };
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
                most: match asked.limit {
                    Some(0) => usize::MAX,
                    _ => LOOKED_AT,
                },
                items: Vec::new(),
                more: false,
            };
            if !live.is_closed()? {
                for find in FINDERS {
                    find(&mut look)?;
                }
            }
            let mut answer = AttentionAnswer::new(&team, now, look.items, limit);
            answer.more |= look.more;
            Ok(answer)
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
    /// Entries of each sort that are looked at.
    most: usize,
    items: Vec<AttentionItem>,
    /// Whether a sort had more entries than are looked at.
    more: bool,
}

impl Look<'_> {
    /// One more than are looked at, so that it is known whether there are more.
    fn asked(&self) -> usize {
        self.most.saturating_add(1)
    }

    /// What there is of a sort, up to the bound; one more than that was asked for.
    fn bounded<T>(&mut self, mut found: Vec<T>) -> Vec<T> {
        self.more |= page::cut(&mut found, self.most);
        found
    }

    /// The tasks of a page of an index, which was asked for as many as are looked at.
    fn page(&mut self, page: TaskPage) -> Vec<Task> {
        self.more |= page.more;
        page.tasks
    }
}
