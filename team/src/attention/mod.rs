//! `attention`: lists problems for a person or leader, each with a command that helps. The command reads indexes of open
//! entries, up to a bound per kind, and does not read the log's history.

mod agents;
mod approvals;
mod found;
mod subscriptions;
mod tasks;

use crate::operation::prelude::*;
use crate::projections::task::TaskPage;
use found::FINDERS;

operation! {
    /// List items that need attention, most severe first, each with a command that helps
    "list-attention": Reads(Attention {
        /// Largest number of items, at most 1000; 100 if absent. On the command line, 0 means all
        #[schemars(range(min = 1, max = 1_000))]
        #[arg(long, value_name = "N", value_parser = crate::argv::whole::<usize>)]
        limit: Option<usize>,
        /// Minutes without a report after which a claimed task is stale; 90 if absent
        #[arg(long, value_name = "MINUTES", value_parser = crate::argv::whole::<u64>)]
        stale_minutes: Option<u64>,
        /// Only items of this kind
        #[arg(long, value_name = "KIND", value_parser = parsed_kind)]
        kind: Option<AttentionKind>,
        /// Only items about this agent
        #[arg(long, value_name = "AGENT")]
        agent: Option<String>,
    }) -> AttentionAnswer = |team, asked| team.attention(&asked)
}

/// Parses the name of a kind on the command line. The error suggests the nearest name.
#[cfg(feature = "cli")]
fn parsed_kind(text: &str) -> std::result::Result<AttentionKind, String> {
    let known = AttentionKind::from_name(text);
    let names = AttentionKind::ALL.map(AttentionKind::name);
    crate::argv::one_of(text, known.is_some(), &names)?;
    known.ok_or_else(AttentionKind::rule)
}

/// Default number of items.
pub const LISTED: usize = 100;
const LISTED_MAX: usize = 1_000;
const LOOKED_AT: usize = 1_000;
/// Default minutes without an update or report after which a task is stale.
const STALE_MINUTES: u64 = 90;

/// The answer `{team, now, items, count, total, by_kind, more}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AttentionAnswer {
    /// Name of the team
    pub team: String,
    /// Time at which leases and deadlines are compared
    pub now: Timestamp,
    /// Items that need attention, most severe first
    pub items: Vec<AttentionItem>,
    /// Number of items shown
    pub count: usize,
    /// Number of all items; at most 1,000 of each kind are counted
    pub total: usize,
    /// Number of items per kind
    pub by_kind: BTreeMap<AttentionKind, usize>,
    /// True if there may be more items than the list shows
    pub more: bool,
}

words! {
    /// Kinds of attention items, in the order of the list.
    pub enum AttentionKind in json {
        /// The log is damaged; only programs that watch many teams add this item
        Damaged = "damaged",
        /// A task depends on a task that failed or was canceled
        WaitsInVain = "waits_in_vain",
        /// A task failed, and no other task depends on it
        TaskFailed = "task_failed",
        /// A message became a dead letter
        DeadLetter = "dead_letter",
        /// The last event of a bootstrap run is a breach of the contract
        BootstrapBreached = "bootstrap_breached",
        /// The team or an agent has spent its token budget
        BudgetUsed = "budget_used",
        /// A reviewer rejected a task that requires an approval
        ApprovalRejected = "approval_rejected",
        /// An agent asked for a decision and got no answer
        QuestionOpen = "question_open",
        /// A message reported a task as blocked
        ReportedBlocked = "reported_blocked",
        /// A message was recorded but did not change its task
        NotApplied = "not_applied",
        /// A task depends on a task that does not exist
        UnknownDependency = "unknown_dependency",
        /// The owner of an unfinished task has never acted in the team
        UnknownOwner = "unknown_owner",
        /// An agent that stopped left unread messages or unfinished tasks
        AgentGone = "agent_gone",
        /// The lease of a claim expired, and no agent has claimed the task again
        LeaseExpired = "lease_expired",
        /// The deadline of an unfinished task has passed
        Overdue = "overdue",
        /// A message was not acknowledged in time
        OverdueAck = "overdue_ack",
        /// A subscription gave up events after their last attempt
        SubscriptionParked = "subscription_parked",
        /// A subscription delivers nothing: its file is damaged, or the log was cut or replaced
        SubscriptionRefused = "subscription_refused",
        /// The guard refused an agent's write
        WriteRefused = "write_refused",
        /// A task in progress requires an approval and has no decision yet
        ApprovalMissing = "approval_missing",
        /// A claimed or assigned task has had no update or report for long
        StaleTask = "stale_task",
    }
}

/// Severity of an attention item
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AttentionSeverity {
    /// The problem stays until an agent or a person acts
    Error,
    /// The problem may end without any action
    Warning,
}

impl AttentionKind {
    /// Returns the severity of the kind.
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
            | AttentionKind::Overdue
            | AttentionKind::OverdueAck
            | AttentionKind::SubscriptionParked
            | AttentionKind::SubscriptionRefused
            | AttentionKind::WriteRefused
            | AttentionKind::ApprovalMissing
            | AttentionKind::StaleTask => AttentionSeverity::Warning,
        }
    }

    /// Returns the kind as a heading over its items.
    pub fn cause(self) -> &'static str {
        match self {
            AttentionKind::Damaged => "damaged",
            AttentionKind::WaitsInVain => "dependency failed",
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
            AttentionKind::LeaseExpired => "lease expired",
            AttentionKind::Overdue => "overdue",
            AttentionKind::OverdueAck => "ack overdue",
            AttentionKind::SubscriptionParked => "events parked",
            AttentionKind::SubscriptionRefused => "subscription refused",
            AttentionKind::WriteRefused => "write refused",
            AttentionKind::ApprovalMissing => "approval missing",
            AttentionKind::StaleTask => "stale",
        }
    }
}

/// A problem that needs attention
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AttentionItem {
    /// Kind of the item
    pub kind: AttentionKind,
    /// Severity of the item
    pub severity: AttentionSeverity,
    /// Description in one line
    pub text: String,
    /// Command line that helps and can be run unchanged
    pub command: String,
    /// Id of the task that the item is about
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// Subject of the task
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Name of the agent that the item is about
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Id of the message that the item is about
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_id: Option<String>,
    /// Path that the item is about
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Seq of the event that caused the item
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// Time at which the problem began
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// Failed or canceled tasks that the task depends on
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waits_for: Vec<AttentionWaitsFor>,
}

/// A failed or canceled task that another task depends on
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AttentionWaitsFor {
    /// Id of the task
    pub task_id: String,
    /// Status of the task
    pub status: Status,
}

impl AttentionItem {
    /// Creates an item that has only a kind, a text and a command.
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

    /// Creates an item about a task. The item's `seq` is the seq of the task's last event.
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

impl Attention {
    /// Returns true if an item has the requested kind and agent.
    fn takes(&self, item: &AttentionItem) -> bool {
        self.kind.is_none_or(|kind| item.kind == kind)
            && (self.agent.is_none() || item.agent == self.agent)
    }
}

impl AttentionAnswer {
    /// Creates an answer with the most severe items, up to a limit.
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

    /// Adds an item at the front, and drops the last item if the list becomes too long.
    pub fn add_first(&mut self, item: AttentionItem, asked: &Attention) {
        *self.by_kind.entry(item.kind).or_default() += 1;
        self.total += 1;
        self.items.insert(0, item);
        let limit = page::limit(asked.limit, LISTED);
        self.more |= page::cut(&mut self.items, limit);
        self.count = self.items.len();
    }

    /// Creates an answer for a team that cannot be read.
    pub fn unreadable(team: &str, now: Timestamp) -> AttentionAnswer {
        let empty = AttentionAnswer::new(team, now, Vec::new(), 0);
        AttentionAnswer {
            more: true,
            ..empty
        }
    }
}

impl Team {
    /// Lists items that need attention. A closed team has no such items, because nothing can change in it.
    pub fn attention(&mut self, asked: &Attention) -> Result<AttentionAnswer> {
        let limit = match asked.limit {
            Some(0) => usize::MAX,
            Some(limit) if limit > LISTED_MAX => {
                let rule = format!("must be 1 to {LISTED_MAX}, or 0 for all");
                return Err(Refusal::invalid("limit", limit, &rule).into());
            }
            limit => limit.unwrap_or(LISTED),
        };
        let (team, now) = (self.name().to_owned(), self.now());
        let minutes = asked.stale_minutes.unwrap_or(STALE_MINUTES);
        let micros = i64::try_from(minutes.saturating_mul(60_000_000)).unwrap_or(i64::MAX);
        let stale_before = now.plus_micros(-micros);
        // Subscriptions have no past.
        let log = self.past().is_none().then(|| self.log.clone());
        self.survey(|live, reader| {
            let mut look = AttentionScan {
                log: log.as_ref(),
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
            look.items.retain(|item| asked.takes(item));
            let mut answer = AttentionAnswer::new(&team, now, look.items, limit);
            answer.more |= look.more;
            Ok(answer)
        })
    }
}

/// A scan of a team, with the items found so far.
struct AttentionScan<'a> {
    /// The log, whose directory has the files of subscriptions; `None` for a point in the past.
    log: Option<&'a Log>,
    live: &'a Live,
    reader: &'a Reader,
    team: &'a str,
    now: Timestamp,
    /// A task is stale if its last update or report is before this time.
    stale_before: Timestamp,
    /// Maximum number of entries examined per kind.
    most: usize,
    items: Vec<AttentionItem>,
    /// True if a kind has more entries than the scan examines.
    more: bool,
}

impl AttentionScan<'_> {
    /// Returns the number of entries to request: one more than the scan examines. The extra entry shows that there are further
    /// entries.
    fn asked(&self) -> usize {
        self.most.saturating_add(1)
    }

    /// Cuts the entries to the maximum number. Remembers if entries were cut off.
    fn bounded<T>(&mut self, mut found: Vec<T>) -> Vec<T> {
        self.more |= page::cut(&mut found, self.most);
        found
    }

    /// Returns the agent that reads the mail to `to`: the new name of a renamed agent. Returns `None` for a retired agent.
    fn reader_of(&self, to: &str) -> Result<Option<String>> {
        let reader = membership::recipient(self.live, to)?;
        Ok((!self.live.is_retired(&reader)?).then_some(reader))
    }

    /// Returns the tasks of a page. Remembers if there are more tasks.
    fn page(&mut self, page: TaskPage) -> Vec<Task> {
        self.more |= page.more;
        page.tasks
    }
}
