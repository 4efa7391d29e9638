//! Tests that the live state equals the rebuilt state, for any history of a team, and for any way to fold the history.

mod kept_runs;

use crate::checks::{check_at_hand, check_claims};
use crate::mailbox::{REQUESTS, check_mail, marked, moved, requested};
use crate::runs::{check_due, reported};
use crate::support::*;
use crate::threads::{check_feed, check_threads, talked};
use crate::usage::{check_artifacts, check_usage, spent};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::sync::Arc;
use teamlog_engine::internals::storage::{Fault, Faulty};
use teamlog_engine::storage::{OpenMode, Storage};
use teamlog_engine::{Json, Log};
use teamlog_projections::delivery::event::{
    DeliveryAttempt, DeliveryDead, DeliveryFact, DeliveryRequired,
};
use teamlog_projections::live::derived_dir;
use teamlog_projections::message::event::Mark;
use teamlog_projections::message::{DispatchStatus, MessageInfo};
use teamlog_projections::pipeline::Bulk;
use teamlog_projections::rebuild::rehydrate_with;
use teamlog_projections::task::event::{
    DepsChanged, TaskAssigned, TaskBlocked, TaskCanceled, TaskFailed, TaskUpdated,
};
use teamlog_projections::task::{Attributes, PlanChange, TaskImported};
use teamlog_projections::team::event::{ConfigChanged, TeamFact};
use teamlog_projections::team::settings::{Form, Setting, Value};
use teamlog_projections::{Error, Policy};

#[derive(Debug, Clone)]
enum Step {
    Append(Vec<EventSketch>),
    Flush,
    Reopen,
    LoseDerived,
}

/// The content of an event. The numbers select ids, names and values; each variant lists its numbers in order.
#[derive(Debug, Clone)]
enum EventSketch {
    /// An assignment: message id, task, recipient, minute and dependencies.
    Assign(u8, u8, u8, u8, Vec<u8>),
    /// A task update: message id, task, minute and status.
    Update(u8, u8, u8, u8),
    /// Plain mail: message id and recipient.
    Mail(u8, u8),
    /// An ack: message id and agent.
    Ack(u8, u8),
    /// A required delivery: message id, recipient, number of retries, and true if a dead letter is requeued.
    Required(u8, u8, u8, bool),
    /// A retry: message id and attempt.
    Retried(u8, u8),
    /// A message that becomes a dead letter: message id and dead letter.
    Buried(u8, u8),
    /// A confirmed delivery: message id.
    Confirmed(u8),
    /// A mark of a message: message id, agent, and true for the mark of a delivery.
    Marked(u8, u8, bool),
    /// A dispatch request: request, message id and recipient.
    Requested(u8, u8, u8),
    /// A step of a dispatch request: request and step.
    Moved(u8, u8),
    /// A change of a setting: setting and value.
    Configured(u8, Option<u8>),
    /// An imported task: task, minute and status.
    Import(u8, u8, u8),
    /// A command on a task: task, act, agent, number and dependencies.
    Did(u8, u8, u8, u8, Vec<u8>),
    Foreign,
    /// A fact about a worker: part, worker and value.
    Staff(u8, u8, u8),
    /// An event of a mode: act, mode, session and value.
    Moded(u8, u8, u8, u8),
    /// Any event of a bootstrap run, valid or not: run, act, domain and value.
    Boot(u8, u8, u8, u8),
    /// Any event of a thread, even if the thread was not started: thread, act, agent and recipients.
    Talked(u8, u8, u8, Vec<u8>),
    /// Token usage or an artifact: agent, act and number.
    Used(u8, u8, u8),
    /// The end of the team. Few histories have this event.
    Closed(u8),
}

const AGENTS: [&str; 3] = ["lead", "dev", "qa"];
const STATUSES: [&str; 7] = [
    "assigned",
    "in_progress",
    "blocked",
    "done",
    "skipped",
    "pending",
    "failed",
];

fn said() -> impl Strategy<Value = EventSketch> {
    let deps = || prop::collection::vec(0u8..6, 0..3);
    prop_oneof![
        3 => (0u8..40, 0u8..6, 0u8..3, 0u8..9, deps())
            .prop_map(|(id, task, to, minute, deps)| EventSketch::Assign(id, task, to, minute, deps)),
        3 => (0u8..40, 0u8..6, 0u8..9, 0u8..7)
            .prop_map(|(id, task, minute, status)| EventSketch::Update(id, task, minute, status)),
        4 => (0u8..12, 0u8..3).prop_map(|(id, to)| EventSketch::Mail(id, to)),
        5 => (0u8..12, 0u8..3, any::<bool>())
            .prop_map(|(id, by, delivered)| EventSketch::Marked(id, by, delivered)),
        2 => (0u8..REQUESTS, 0u8..12, 0u8..3)
            .prop_map(|(request, id, to)| EventSketch::Requested(request, id, to)),
        2 => (0u8..REQUESTS, 0u8..3).prop_map(|(request, step)| EventSketch::Moved(request, step)),
        2 => (0u8..40, 0u8..3).prop_map(|(id, by)| EventSketch::Ack(id, by)),
        3 => (0u8..10, 0u8..3, 0u8..3, any::<bool>())
            .prop_map(|(id, to, retries, requeued)| EventSketch::Required(id, to, retries, requeued)),
        2 => (0u8..10, 0u8..4).prop_map(|(id, attempt)| EventSketch::Retried(id, attempt)),
        2 => (0u8..10, 0u8..20).prop_map(|(id, letter)| EventSketch::Buried(id, letter)),
        1 => (0u8..10).prop_map(EventSketch::Confirmed),
        1 => (0u8..8, proptest::option::of(0u8..4))
            .prop_map(|(setting, value)| EventSketch::Configured(setting, value)),
        1 => (0u8..6, 0u8..9, 0u8..7)
            .prop_map(|(task, minute, status)| EventSketch::Import(task, minute, status)),
        8 => (0u8..6, 0u8..17, 0u8..3, 0u8..9, deps())
            .prop_map(|(task, what, by, number, deps)| EventSketch::Did(task, what, by, number, deps)),
        1 => Just(EventSketch::Foreign),
        5 => (0u8..13, 0u8..3, 0u8..4)
            .prop_map(|(what, worker, value)| EventSketch::Staff(what, worker, value)),
        8 => (0u8..13, 0u8..8, 0u8..4, 0u8..6)
            .prop_map(|(what, mode, session, value)| EventSketch::Moded(what, mode, session, value)),
        8 => (0u8..2, 0u8..32, 0u8..3, 0u8..6)
            .prop_map(|(run, what, domain, value)| EventSketch::Boot(run, what, domain, value)),
        6 => (0u8..3, 0u8..8, 0u8..3, prop::collection::vec(0u8..3, 0..3))
            .prop_map(|(thread, what, by, to)| EventSketch::Talked(thread, what, by, to)),
        3 => (0u8..3, 0u8..8, 0u8..9).prop_map(|(by, what, number)| EventSketch::Used(by, what, number)),
        1 => (0u8..4).prop_map(EventSketch::Closed),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => prop::collection::vec(said(), 1..5).prop_map(Step::Append),
        2 => Just(Step::Flush),
        2 => Just(Step::Reopen),
        1 => Just(Step::LoseDerived),
    ]
}

fn info(id: u8, to: &str) -> MessageInfo {
    given!(MessageInfo; id: format!("m{id}"), seq: 0, kind: MessageType::Message, to,
        task_id: None::<String>, trace_id: None::<String>, acked: None)
}

/// Builds a change of a setting, which may also switch views off or on.
fn configured(setting: u8, value: Option<u8>) -> NewEvent {
    let setting = match setting {
        0 | 1 => Setting::Views,
        2 => Setting::MembersOpen,
        3 => Setting::NudgeIdle,
        4 => Setting::MaxRetries(None),
        5 => Setting::ResourcesRoot,
        6 => Setting::ResourcesPolicy,
        _ => Setting::AckTimeout(Some(MessageType::Handoff)),
    };
    let value = value.map(|value| match setting.form() {
        Form::Switch => Value::Switch(value > 0),
        Form::Number(..) => Value::Number(u64::from(value)),
        Form::Choice(_) | Form::Path | Form::Programs => Value::Text(format!("/{value}")),
    });
    TeamFact::ConfigChanged(given!(ConfigChanged; changes: vec![(setting, value)])).event("lead")
}

/// Builds the event that the rules would record. For example, a message whose id is known becomes a duplicate.
fn event(said: &EventSketch, known: &mut BTreeSet<String>, sent: &mut Vec<Message>) -> NewEvent {
    let agent = |at: &u8| AGENTS[usize::from(*at)];
    let message = match said {
        EventSketch::Assign(id, task, to, minute, deps) => {
            let payload = serde_json::json!({"subject": format!("s{id}"), "deps": deps.iter().map(u8::to_string).collect::<Vec<_>>()});
            let mut assignment = assign(
                &format!("m{id}"),
                &task.to_string(),
                agent(to),
                i64::from(*minute),
                &payload.to_string(),
            );
            assignment.priority = Priority::ALL[usize::from(id % 4)];
            assignment
        }
        EventSketch::Update(id, task, minute, status) => {
            let payload = serde_json::json!({"status": STATUSES[usize::from(*status)], "blocked": id % 2 == 0});
            update(
                &format!("m{id}"),
                &task.to_string(),
                "dev",
                i64::from(*minute),
                &payload.to_string(),
            )
        }
        EventSketch::Mail(id, to) => {
            let payload = format!("{{\"body\":\"b{}\"}}", id % 3);
            message(
                &format!("m{id}"),
                MessageType::Message,
                agent(to),
                1,
                &payload,
            )
        }
        EventSketch::Ack(id, by) => return ack(&format!("m{id}"), agent(by)),
        EventSketch::Required(id, to, retries, requeued) => {
            let required = given!(DeliveryRequired; message_id: format!("m{id}"),
                policy: given!(Policy; ack_timeout_seconds: 60, max_retries: u32::from(*retries)),
                due_at: (retries % 2 == 0).then(|| at(2)), requeued: *requeued);
            return DeliveryFact::Required(required).event("lead", &info(*id, agent(to)));
        }
        EventSketch::Retried(id, attempt) => {
            let retry = DeliveryFact::Retry(given!(DeliveryAttempt; message_id: format!("m{id}"),
                attempt: u32::from(*attempt), due_at: at(3).to_string(),
                ends_at: (attempt % 2 == 0).then(|| at(4))));
            return retry.event("teamlog", &info(*id, "dev"));
        }
        EventSketch::Buried(id, letter) => {
            let dead = DeliveryFact::Dead(given!(DeliveryDead; id: format!("dlq_{letter}"),
                message_id: format!("m{id}"), reason: "ack_timeout", attempts: 3,
                due_at: at(4).to_string()));
            let to = AGENTS[usize::from(letter % 3)];
            return dead.event("teamlog", &info(*id, to));
        }
        EventSketch::Confirmed(id) => {
            let acked = DeliveryFact::Acked(given!(DeliveryAttempt; message_id: format!("m{id}"),
                attempt: 1, due_at: None::<String>, ends_at: None::<teamlog_engine::Timestamp>));
            return acked.event("dev", &info(*id, "dev"));
        }
        EventSketch::Marked(id, by, delivered) => {
            let mark = match delivered {
                true => Mark::Delivered,
                false => Mark::Notified,
            };
            return marked(mark, &format!("m{id}"), agent(by));
        }
        EventSketch::Requested(request, id, to) => {
            return requested(&format!("r{request}"), &format!("m{id}"), agent(to));
        }
        EventSketch::Moved(request, step) => {
            let steps = [
                DispatchStatus::Notified,
                DispatchStatus::Delivered,
                DispatchStatus::Failed,
            ];
            return moved(&format!("r{request}"), steps[usize::from(*step)]);
        }
        EventSketch::Configured(setting, value) => return configured(*setting, *value),
        EventSketch::Import(task, minute, status) => {
            let snapshot = serde_json::json!({
                "task_id": task.to_string(),
                "created_at": at(0).to_string(),
                "updated_at": at(i64::from(*minute)).to_string(),
                "owner": "dev",
                "status": STATUSES[*status as usize],
                "blocked": minute % 2 == 0,
                "snapshot_version": 2,
            });
            let task = TaskImported::parse(&snapshot.to_string()).unwrap();
            return task.event("teamlog");
        }
        EventSketch::Did(task, what, by, number, deps) => {
            let act = act(*what, agent(by), *number, deps);
            let fact = TaskFact::new(task.to_string(), act);
            return fact.event(agent(by), Some(agent(by)), (*number == 3).then_some("tr_2"));
        }
        EventSketch::Foreign | EventSketch::Closed(1..) => return foreign("something_happened"),
        EventSketch::Closed(0) => return closed(),
        EventSketch::Boot(run, what, domain, value) => {
            return reported(*run, *what, *domain, *value);
        }
        EventSketch::Talked(thread, what, by, to) => {
            let mut to: Vec<String> = to.iter().map(|at| agent(at).to_owned()).collect();
            to.dedup();
            return talked(*thread, *what, agent(by), to);
        }
        EventSketch::Used(by, what, number) => return spent(*what, agent(by), *number),
        EventSketch::Staff(what, worker, value) => return staffed(*what, agent(worker), *value),
        EventSketch::Moded(what, mode, session, value) => {
            return moded(*what, *mode, *session, *value);
        }
    };
    match known.insert(message.id.clone()) {
        true => {
            let event = message.sent().unwrap();
            sent.push(message);
            event
        }
        false => message.duplicate(),
    }
}

fn resources(number: u8) -> Resources {
    given!(Resources; resources: (0..number % 3).map(|at| format!("src/{at}")).collect::<Vec<_>>(),
        shared: (number > 5).then_some(number > 6))
}

/// Builds an arbitrary change of a plan; the parents are tasks of the histories, the task itself among them.
fn plan(number: u8) -> PlanChange {
    let some = |modulus: u8| number.is_multiple_of(modulus);
    PlanChange {
        labels: some(2).then(|| (0..number % 4).map(|at| format!("l{at}")).collect()),
        due_at: some(3).then(|| (number > 3).then(|| at(i64::from(number)))),
        defer_until: some(4).then(|| (number > 4).then(|| at(i64::from(number)))),
        parent: (number > 2).then(|| (number > 3).then(|| (number % 4 + 1).to_string())),
    }
}

/// Builds an arbitrary task act. The act need not make sense: a fold accepts every act.
fn act(what: u8, by: &str, number: u8, deps: &[u8]) -> TaskAct {
    let deps: Vec<String> = deps.iter().map(u8::to_string).collect();
    let held = given!(ClaimRef; worker: by, epoch: u64::from(number % 4),
        forced: number.is_multiple_of(3));
    let lease = given!(Lease; held: held.clone(), leased_until: at(i64::from(number) + 1));
    let text = number.is_multiple_of(2).then(|| format!("said {number}"));
    match what {
        0..=3 => TaskAct::Created(given!(TaskCreated; subject: format!("s{number}"),
            description: String::new(), blocked: what == 3,
            owner: (what == 2).then(|| by.to_owned()), depends_on: deps,
            attributes: Attributes {
                requires_code_change: (number > 4).then_some(true),
                requires_approval: (number > 6).then_some(true),
            },
            plan: plan(number),
            priority: Priority::ALL[usize::from(number % 4)],
            resources: match number % 3 { 0 => resources(number), _ => Resources::default(), },
            extra: (number == 1).then(|| Json::parse(r#"{"lane":"docs"}"#).unwrap()))),
        4 => TaskAct::Updated(
            given!(TaskUpdated; subject: text.clone(), description: text,
            attributes: Attributes {
                requires_code_change: number.is_multiple_of(3).then_some(false),
                requires_approval: number.is_multiple_of(4).then_some(true),
            },
            plan: plan(number),
            priority: number.is_multiple_of(5).then_some(Priority::High),
            forced: number == 3),
        ),
        5 => TaskAct::DepsChanged(DepsChanged { depends_on: deps }),
        6 => TaskAct::Blocked(TaskBlocked { waits_for: deps }),
        7 => TaskAct::Unblocked,
        8 | 9 => TaskAct::Claimed(TaskClaimed::new(lease, format!("token-{number}"))),
        10 => TaskAct::Renewed(lease),
        11 => TaskAct::Completed(TaskCompleted { held, result: text }),
        12 => TaskAct::Failed(TaskFailed { held, error: text }),
        13 => TaskAct::Released(held),
        14 if number < 5 => TaskAct::Canceled(given!(TaskCanceled; reason: text,
            forced: number == 0)),
        14 => TaskAct::Reopened,
        15 if number < 4 => TaskAct::Assigned(
            given!(TaskAssigned; owner: (number > 0).then(|| by.to_owned()),
            taken_from: (number > 1).then(|| held.clone()),
            epoch: (number > 1).then_some(u64::from(number))),
        ),
        15 => TaskAct::ResourcesDeclared(resources(number)),
        _ => TaskAct::LeaseExpired(lease),
    }
}

/// Folds all steps; returns the digest at the end, and the digest after every group.
fn live_of(team: &Team, steps: &[Step]) -> (String, Vec<(u64, String)>) {
    let mut writer = team.writer();
    let (mut known, mut sent) = (BTreeSet::new(), Vec::new());
    let mut then = Vec::new();
    for step in steps {
        match step {
            Step::Append(all) => {
                commit(
                    &writer,
                    all.iter()
                        .map(|said| event(said, &mut known, &mut sent))
                        .collect(),
                );
                writer.with_state(|live| {
                    check_at_hand(live, &AGENTS);
                    check_claims(live);
                    check_due(live);
                    check_modes(live);
                    check_mail(live, &AGENTS, &sent);
                    check_threads(live);
                    check_feed(live, &AGENTS);
                    check_usage(live);
                    check_artifacts(live);
                    then.push((live.seq(), live.digest().unwrap()));
                });
            }
            Step::Flush => writer.with_state(|live| live.flush().unwrap()),
            Step::Reopen => {
                writer.close().unwrap();
                writer = team.writer();
            }
            Step::LoseDerived => {
                writer.close().unwrap();
                if team.storage.stat(&team.path("derived")).unwrap().is_some() {
                    team.storage.remove_dir_all(&team.path("derived")).unwrap();
                }
                writer = team.writer();
            }
        }
    }
    let live = writer.close().unwrap();
    assert!(live.views_error().is_none(), "{:?}", live.views_error());
    (live.digest().unwrap(), then)
}

/// Returns the contents of the derived store's runs, without their names, which are numbered.
fn runs(team: &Team) -> Vec<Vec<u8>> {
    let dir = derived_dir(team.log.dir());
    let mut names = team.storage.list(&dir).unwrap();
    names.retain(|name| name.ends_with(".run"));
    let mut files: Vec<_> = names
        .iter()
        .map(|name| team.storage.read(&dir.join(name), 1 << 30).unwrap())
        .collect();
    files.sort();
    files
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]
    #[test]
    fn live_equals_rebuilt(steps in prop::collection::vec(step(), 1..14), binary in any::<bool>()) {
        let format = if binary { Format::Binary } else { Format::Jsonl };
        let team = Team::empty(format);
        team.append(vec![created(&AGENTS, true)]);
        let (digest, then) = live_of(&team, &steps);
        let views = team.views();
        prop_assert_eq!(&team.live().digest().unwrap(), &digest);
        let exclusive = team.log.lock().unwrap();
        let reader = exclusive.reader();
        prop_assert_eq!(&Live::at(&team.log, &reader, u64::MAX).unwrap().digest().unwrap(), &digest);
        for (seq, digest) in then {
            let past = Live::at(&team.log, &reader, seq).unwrap();
            prop_assert_eq!((past.seq(), past.digest().unwrap()), (seq, digest));
            check_at_hand(&past, &AGENTS);
            check_claims(&past);
            check_modes(&past);
        }
        let mut first: Option<Vec<Vec<u8>>> = None;
        for decoders in [1, 2, 3, 8] {
            let bulk = Bulk { decoders, span_bytes: 700, run_bytes: 2000, alone_max: 0 };
            let (found, live) = rehydrate_with(&team.log, &reader, bulk, &mut |_| {}).unwrap();
            prop_assert_eq!(&found.digest, &digest, "{} decoders", decoders);
            prop_assert_eq!(found.views.written + found.views.removed, 0, "{:?}", found.views);
            prop_assert_eq!(live.digest().unwrap(), digest.clone());
            prop_assert_eq!(team.views(), views.clone());
            let files = runs(&team);
            prop_assert!(!files.is_empty());
            let same = *first.get_or_insert_with(|| files.clone()) == files;
            prop_assert!(same, "{} decoders write other bytes", decoders);
        }
    }
}
