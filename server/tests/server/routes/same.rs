//! The same commands over HTTP and straight to the team leave the same state behind.

use super::world::{SECOND, World};
use proptest::prelude::*;
use serde_json::{Value, json};
use teamlog_team::lifecycle::status::Status;
use teamlog_team::task::claim::TaskClaim;
use teamlog_team::task::create::TaskCreate;
use teamlog_team::task::finish::TaskFinish;
use teamlog_team::task::renew::TaskRenew;
use teamlog_team::thread::link::ThreadLink;
use teamlog_team::thread::post::ThreadPost;
use teamlog_team::thread::start::ThreadStart;
use teamlog_team::usage::report::ReportUsage;

/// A command, in a form that both ways can carry out.
#[derive(Debug, Clone)]
enum Step {
    Create {
        deps: Vec<String>,
        resources: Vec<String>,
    },
    Claim {
        task: String,
        agent: String,
        ttl: u64,
    },
    Renew {
        task: String,
        epoch: u64,
        ttl: u64,
    },
    Finish {
        task: String,
        epoch: u64,
        completed: bool,
    },
    Start {
        task: Option<String>,
        agents: Vec<String>,
    },
    Post {
        thread: String,
        agent: String,
    },
    Link {
        thread: String,
        task: String,
    },
    Use {
        agent: String,
        tokens: u64,
    },
    Wait(i64),
}

fn task() -> impl Strategy<Value = String> {
    (1_u8..6).prop_map(|number| number.to_string())
}

fn agent() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["ada", "bob", "eve"]).prop_map(str::to_owned)
}

fn thread() -> impl Strategy<Value = String> {
    (1_u8..3).prop_map(|number| format!("thread-{number:04}"))
}

fn paths() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(prop::sample::select(vec!["src", "src/io", "docs"]), 0..2)
        .prop_map(|paths| paths.into_iter().map(str::to_owned).collect())
}

fn step() -> impl Strategy<Value = Step> {
    let ttl = || prop::sample::select(vec![1_000_u64, 60_000, 300_000]);
    prop_oneof![
        3 => (prop::collection::vec(task(), 0..2), paths()).prop_map(|(deps, resources)| Step::Create { deps, resources }),
        4 => (task(), agent(), ttl()).prop_map(|(task, agent, ttl)| Step::Claim { task, agent, ttl }),
        2 => (task(), 0_u64..4, ttl()).prop_map(|(task, epoch, ttl)| Step::Renew { task, epoch, ttl }),
        4 => (task(), 0_u64..4, any::<bool>()).prop_map(|(task, epoch, completed)| Step::Finish { task, epoch, completed }),
        1 => (prop::option::of(task()), prop::collection::vec(agent(), 0..3)).prop_map(|(task, agents)| Step::Start { task, agents }),
        2 => (thread(), agent()).prop_map(|(thread, agent)| Step::Post { thread, agent }),
        1 => (thread(), task()).prop_map(|(thread, task)| Step::Link { thread, task }),
        1 => (agent(), 0_u64..1_000).prop_map(|(agent, tokens)| Step::Use { agent, tokens }),
        2 => (1_i64..90).prop_map(|seconds| Step::Wait(seconds * SECOND)),
    ]
}

/// Whether it was done; what is refused is refused both ways, if not in the same words.
fn over_http(world: &World, step: &Step) -> bool {
    let ask = |target: String, body: Value| world.post(&target, body).status < 300;
    match step.clone() {
        Step::Create { deps, resources } => ask(
            "/v1/tasks".into(),
            json!({"title": "t", "description": "d", "deps": deps, "resources": resources}),
        ),
        Step::Claim { task, agent, ttl } => ask(
            format!("/v1/tasks/{task}/claim"),
            json!({"agentId": agent, "ttlMs": ttl}),
        ),
        Step::Renew { task, epoch, ttl } => ask(
            format!("/v1/tasks/{task}/renew"),
            json!({"epoch": epoch, "ttlMs": ttl}),
        ),
        Step::Finish {
            task,
            epoch,
            completed,
        } => {
            let way = if completed { "complete" } else { "fail" };
            ask(format!("/v1/tasks/{task}/{way}"), json!({"epoch": epoch}))
        }
        Step::Start { task, agents } => ask(
            "/v1/threads".into(),
            json!({"taskId": task, "participants": agents}),
        ),
        Step::Post { thread, agent } => ask(
            format!("/v1/threads/{thread}/messages"),
            json!({"agentId": agent, "body": "said"}),
        ),
        Step::Link { thread, task } => ask(
            format!("/v1/threads/{thread}/link"),
            json!({"taskId": task}),
        ),
        Step::Use { agent, tokens } => ask(
            "/v1/usage".into(),
            json!({"agentId": agent, "tokens": tokens}),
        ),
        Step::Wait(micros) => {
            world.later(micros);
            true
        }
    }
}

fn straight(world: &World, step: &Step) -> bool {
    let mut team = world.served.team("demo").unwrap();
    match step.clone() {
        Step::Create { deps, resources } => {
            let create = TaskCreate {
                subject: "t".into(),
                description: "d".into(),
                blocked_by: Some(deps),
                resources: Some(resources),
                ..TaskCreate::default()
            };
            team.task_create(create).is_ok()
        }
        Step::Claim { task, agent, ttl } => {
            let claim = TaskClaim {
                task_id: task,
                worker: agent,
                lease_ms: Some(ttl),
                ..TaskClaim::default()
            };
            team.task_claim(claim).is_ok()
        }
        Step::Renew { task, epoch, ttl } => {
            let renew = TaskRenew {
                task_id: task,
                epoch: Some(epoch),
                lease_ms: Some(ttl),
                ..TaskRenew::default()
            };
            team.task_renew(renew).is_ok()
        }
        Step::Finish {
            task,
            epoch,
            completed,
        } => {
            let finish = TaskFinish {
                task_id: task,
                from: "in_progress".into(),
                to: if completed { "completed" } else { "failed" }.into(),
                epoch: Some(epoch),
                ..TaskFinish::default()
            };
            team.task_finish(finish).is_ok()
        }
        Step::Start { task, agents } => {
            let start = ThreadStart {
                task_id: task,
                participants: Some(agents),
                ..ThreadStart::default()
            };
            team.thread_start(start).is_ok()
        }
        Step::Post { thread, agent } => {
            let post = ThreadPost {
                thread_id: thread,
                body: "said".into(),
                worker: Some(agent),
                to: None,
            };
            team.thread_post(post).is_ok()
        }
        Step::Link { thread, task } => {
            let link = ThreadLink {
                thread_id: thread,
                task_id: task,
                worker: None,
            };
            team.thread_link(link).is_ok()
        }
        Step::Use { agent, tokens } => {
            let report = ReportUsage {
                worker: agent,
                tokens: Some(tokens),
                ..ReportUsage::default()
            };
            team.report_usage(report).is_ok()
        }
        Step::Wait(micros) => {
            world.later(micros);
            true
        }
    }
}

fn digest(world: &World) -> (u64, Option<String>) {
    let mut team = world.served.team("demo").unwrap();
    let status = Status {
        digest: true,
        ..Status::default()
    };
    let status = team.status(status).unwrap();
    (status.last_seq, status.state_digest)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn both_ways_lead_to_the_same_state(steps in prop::collection::vec(step(), 1..40)) {
        let (http, team) = (World::new(), World::new());
        for step in &steps {
            prop_assert_eq!(over_http(&http, step), straight(&team, step), "{:?}", step);
        }
        prop_assert_eq!(digest(&http), digest(&team));
    }
}
