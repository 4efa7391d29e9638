//! Property: the live state equals the rebuilt state, over random histories of commands by several handles.

use crate::prelude::*;
use proptest::prelude::*;
use teamlog_team::projections::Status;
use teamlog_team::task::reopen::TaskReopen;

#[derive(Debug, Clone)]
enum Step {
    Send {
        to: u8,
        id: Option<u8>,
        cooldown: bool,
    },
    Assign {
        task: u8,
        to: u8,
        deps: Vec<u8>,
        back: i64,
    },
    Update {
        task: u8,
        status: usize,
        back: i64,
    },
    Ack {
        agent: u8,
        id: u8,
    },
    Require {
        to: u8,
        id: u8,
        seconds: u64,
        retries: u64,
    },
    Tick,
    Requeue {
        id: u8,
    },
    Nudge,
    Configure {
        key: usize,
        value: Option<bool>,
    },
    Append {
        task: u8,
    },
    Create {
        task: Option<u8>,
        owner: Option<u8>,
        deps: Vec<u8>,
    },
    Change {
        task: u8,
        deps: Option<Vec<u8>>,
        expected: Option<u64>,
    },
    Claim {
        task: u8,
        worker: u8,
        seconds: u64,
    },
    ClaimNext {
        worker: u8,
        seconds: u64,
    },
    /// An act of the holder, with the last known token of the task or with an epoch.
    Hold {
        task: u8,
        what: u8,
        epoch: Option<u64>,
    },
    Cancel {
        task: u8,
        force: bool,
    },
    Retry {
        task: u8,
    },
    Join {
        agent: u8,
    },
    Later {
        micros: i64,
    },
    Finish,
    Reopen,
    Rehydrate,
}

/// Settings of different types. A value that is invalid for its setting is refused and changes nothing.
const KEYS: [&str; 3] = ["views", "members.open", "nudge.idle_seconds"];

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let back = prop_oneof![Just(0), 0_i64..5_000_000];
    let step = prop_oneof![
        4 => (0..4_u8, proptest::option::of(0..12_u8), any::<bool>())
            .prop_map(|(to, id, cooldown)| Step::Send { to, id, cooldown }),
        4 => (0..6_u8, 0..4_u8, proptest::collection::vec(0..6_u8, 0..3), back.clone())
            .prop_map(|(task, to, deps, back)| Step::Assign { task, to, deps, back }),
        6 => (0..6_u8, 0..Status::ALL.len(), back)
            .prop_map(|(task, status, back)| Step::Update { task, status, back }),
        3 => (0..4_u8, 0..12_u8).prop_map(|(agent, id)| Step::Ack { agent, id }),
        3 => (0..4_u8, 0..12_u8, 1..4_u64, 0..3_u64)
            .prop_map(|(to, id, seconds, retries)| Step::Require { to, id, seconds, retries }),
        3 => Just(Step::Tick),
        1 => (0..12_u8).prop_map(|id| Step::Requeue { id }),
        1 => Just(Step::Nudge),
        1 => (0..KEYS.len(), proptest::option::of(any::<bool>()))
            .prop_map(|(key, value)| Step::Configure { key, value }),
        1 => (0..6_u8).prop_map(|task| Step::Append { task }),
        1 => (0..6_u8).prop_map(|agent| Step::Join { agent }),
        4 => (proptest::option::of(0..6_u8), proptest::option::of(0..4_u8), deps())
            .prop_map(|(task, owner, deps)| Step::Create { task, owner, deps }),
        2 => (0..6_u8, proptest::option::of(deps()), proptest::option::of(0..5_u64))
            .prop_map(|(task, deps, expected)| Step::Change { task, deps, expected }),
        5 => (0..6_u8, 0..5_u8, 1..6_u64)
            .prop_map(|(task, worker, seconds)| Step::Claim { task, worker, seconds }),
        3 => (0..5_u8, 1..6_u64).prop_map(|(worker, seconds)| Step::ClaimNext { worker, seconds }),
        6 => (0..6_u8, 0..4_u8, proptest::option::of(0..4_u64))
            .prop_map(|(task, what, epoch)| Step::Hold { task, what, epoch }),
        1 => (0..6_u8, any::<bool>()).prop_map(|(task, force)| Step::Cancel { task, force }),
        2 => (0..6_u8).prop_map(|task| Step::Retry { task }),
        3 => (-2_000_000..4_000_000_i64).prop_map(|micros| Step::Later { micros }),
        2 => Just(Step::Finish),
        1 => Just(Step::Reopen),
        1 => Just(Step::Rehydrate),
    ];
    proptest::collection::vec(step, 1..80)
}

fn deps() -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(0..6_u8, 0..3)
}

fn agent(number: u8) -> String {
    format!("a{number}")
}

fn task(number: u8) -> String {
    format!("t{number}")
}

fn run(world: &World, team: &mut Team, step: Step) -> Result<(), Failure> {
    let earlier = |micros: i64| {
        Some(
            world
                .root
                .options()
                .clock
                .now()
                .plus_micros(-micros)
                .to_string(),
        )
    };
    match step {
        Step::Send { to, id, cooldown } => {
            let send = given!(Send, message_id: id.map(|id| format!("m{id}")),
                cooldown_seconds: cooldown.then_some(2), ..message("a0", &agent(to)));
            team.send(send).map(drop)
        }
        Step::Assign {
            task: id,
            to,
            deps,
            back,
        } => team
            .task_assign(
                given!(TaskAssign, from: "a0", to: agent(to), task_id: task(id), subject: "work",
                    deps: deps.into_iter().map(task).collect::<Vec<_>>(), created_at: earlier(back)),
            )
            .map(drop),
        Step::Update {
            task: id,
            status,
            back,
        } => team
            .task_update(given!(TaskUpdate, from: "a1", to: "a0",
                blocked: (status == 1).then_some(true), created_at: earlier(back),
                ..update(&task(id), Status::ALL[status].name())))
            .map(drop),
        Step::Ack { agent: who, id } => team
            .ack(given!(Ack, agent: agent(who), message_id: format!("m{id}")))
            .map(drop),
        Step::Require {
            to,
            id,
            seconds,
            retries,
        } => {
            let send = given!(Send, message_id: format!("m{id}"),
                delivery: given!(Require, ack_timeout_seconds: seconds, max_retries: retries),
                ..message("a0", &agent(to)));
            team.send(send).map(drop)
        }
        Step::Tick => team.tick(Tick::default()).map(drop),
        Step::Requeue { id } => team
            .dead_letter_requeue(given!(DeadLetterRequeue, message_id: format!("m{id}")))
            .map(drop),
        Step::Nudge => team
            .nudge(given!(Nudge, idle_seconds: 2, cooldown_seconds: 3))
            .map(drop),
        Step::Configure { key, value } => team
            .config_change(given!(ConfigChange, key: KEYS[key],
                value: value.map(|value| value.to_string())))
            .map(drop),
        Step::Append { task: id } => team
            .append(given!(Append, kind: "seen", task_id: task(id)))
            .map(drop),
        Step::Join { agent: who } => world
            .root
            .init(given!(Init, members: vec![agent(who)], ..Init::for_team("demo")))
            .map(drop),
        Step::Later { micros } => {
            world.later(micros);
            Ok(())
        }
        Step::Create {
            task: id,
            owner,
            deps,
        } => team
            .task_create(
                given!(TaskCreate, task_id: id.map(task), owner: owner.map(agent),
                    blocked_by: deps.into_iter().map(task).collect::<Vec<_>>(),
                    ..crate::claims::new("work")),
            )
            .map(drop),
        Step::Change {
            task: id,
            deps,
            expected,
        } => team
            .task_change(given!(TaskChange,
                blocked_by: deps.map(|deps| deps.into_iter().map(task).collect()),
                expected_version: expected, ..crate::claims::change(&task(id))))
            .map(drop),
        Step::Claim {
            task: id,
            worker,
            seconds,
        } => team
            .task_claim(given!(TaskClaim, lease_ms: seconds * 1_000,
                ..crate::claims::claim(&task(id), &agent(worker))))
            .map(drop),
        Step::ClaimNext { worker, seconds } => team
            .claim_next(given!(ClaimNext, worker: agent(worker), lease_ms: seconds * 1_000))
            .map(drop),
        Step::Hold {
            task: id,
            what,
            epoch,
        } => hold(team, &task(id), what, epoch),
        Step::Cancel { task: id, force } => team
            .task_cancel(given!(TaskCancel, task_id: task(id), force))
            .map(drop),
        Step::Retry { task: id } => team
            .task_reopen(given!(TaskReopen, task_id: task(id)))
            .map(drop),
        Step::Finish => team.finish(),
        Step::Reopen => {
            *team = world.root.team("demo")?;
            Ok(())
        }
        Step::Rehydrate => {
            settled_digest(team);
            Ok(())
        }
    }
}

/// Acts as the holder of a task. Uses the token of the last claim, unless an epoch is given.
fn hold(team: &mut Team, id: &str, what: u8, epoch: Option<u64>) -> Result<(), Failure> {
    let last = crate::claims::find(team, id).and_then(|task| task.governed.claim);
    let token = last.map_or("none".to_owned(), |claim| claim.token);
    let claim_token = epoch.is_none().then_some(token);
    let task_id = id.to_owned();
    match what {
        0 => team
            .task_renew(given!(TaskRenew, task_id, claim_token, epoch, lease_ms: 3_000))
            .map(drop),
        1 => team
            .task_release(TaskRelease {
                task_id,
                worker: agent(1),
                claim_token,
                epoch,
                // With an epoch, the caller can be another agent than the holder. The property must hold in both cases.
                force: true,
                ..TaskRelease::default()
            })
            .map(drop),
        _ => team
            .task_finish(given!(TaskFinish, task_id, from: "in_progress",
                to: if what == 2 { "completed" } else { "failed" }, claim_token, epoch, result: "r",
                error: "e"))
            .map(drop),
    }
}

/// Checks the conditions that all tasks must meet after any history.
fn check(team: &mut Team) {
    let now = team.tasks(given!(Tasks, limit: 0)).unwrap().tasks;
    let find = |id: &str| now.iter().find(|task| task.task_id == id);
    let ready = team.ready(&given!(Ready, limit: 0)).unwrap().tasks;
    for task in &now {
        let id = &task.task_id;
        let open = task
            .deps
            .iter()
            .any(|dep| find(dep).is_none_or(|dep| dep.status != Status::Completed));
        let live = task.claim().is_some();
        let listed = ready.iter().any(|ready| ready.task_id == *id);
        if task.claim_governed {
            assert_eq!(live, task.status == Status::InProgress, "{task:?}");
            let free = matches!(task.status, Status::Pending | Status::Blocked);
            let free = free || task.lease_expired();
            assert_eq!(listed, free && !open, "{task:?}");
            // Reopening a dependency does not block the tasks that it has unblocked. A tick unblocks tasks whose dependencies
            // were completed in another way.
            assert!(task.status != Status::Blocked || open, "{task:?}");
        } else {
            assert!(!live, "{task:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn live_equals_rebuilt(steps in steps(), binary in any::<bool>(), closed in any::<bool>()) {
        let world = World::new();
        let format = if binary { Format::Binary } else { Format::Jsonl };
        let members: Option<&[&str]> = closed.then_some(&["a0", "a1", "a2"]);
        let mut handles = [world.team(members, format), world.root.team("demo").unwrap()];
        for (n, step) in steps.into_iter().enumerate() {
            let handle = &mut handles[n % 2];
            match run(&world, handle, step.clone()) {
                Ok(()) | Err(Failure::Refused(_)) => {}
                Err(failed) => panic!("{step:?}: {failed}"),
            }
        }
        let [one, two] = &mut handles;
        check(one);
        let digest = settled_digest(one);
        prop_assert_eq!(settled_digest(two), digest);
        prop_assert!(one.verify(None).unwrap().ok);
    }
}
