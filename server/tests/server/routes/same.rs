//! Commands over HTTP and commands without HTTP lead to equal states.

use super::world::{SECOND, World};
use proptest::prelude::*;
use serde_json::{Value, json};
use teamlog_team::api;
use teamlog_team::lifecycle::status::Status;

/// A step of a history.
#[derive(Debug, Clone)]
pub enum Step {
    /// A command in two forms: an HTTP request (target and body), and an operation (name and input).
    Ask((String, Value), (&'static str, Value)),
    Wait(i64),
}

fn task() -> impl Strategy<Value = String> {
    (1_u8..6).prop_map(|number| number.to_string())
}

fn agent() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["ada", "bob", "eve"])
}

fn thread() -> impl Strategy<Value = String> {
    (1_u8..3).prop_map(|number| format!("thread-{number:04}"))
}

fn paths() -> impl Strategy<Value = Vec<&'static str>> {
    prop::collection::vec(prop::sample::select(vec!["src", "src/io", "docs"]), 0..2)
}

/// Returns a step with a command in both forms.
fn ask(target: impl Into<String>, body: Value, name: &'static str, input: Value) -> Step {
    Step::Ask((target.into(), body), (name, input))
}

pub fn step() -> impl Strategy<Value = Step> {
    let ttl = || prop::sample::select(vec![1_000_u64, 60_000, 300_000]);
    let create = (prop::collection::vec(task(), 0..2), paths()).prop_map(|(deps, paths)| {
        let body = json!({"title": "t", "description": "d", "deps": deps, "resources": paths});
        let input =
            json!({"subject": "t", "description": "d", "blocked_by": deps, "resources": paths});
        ask("/v1/tasks", body, "create-task", input)
    });
    let claim = (task(), agent(), ttl()).prop_map(|(task, agent, ttl)| {
        let body = json!({"agentId": agent, "ttlMs": ttl});
        let input = json!({"task_id": task, "worker": agent, "lease_ms": ttl});
        ask(format!("/v1/tasks/{task}/claim"), body, "claim-task", input)
    });
    let renew = (task(), 0_u64..4, ttl()).prop_map(|(task, epoch, ttl)| {
        let body = json!({"epoch": epoch, "ttlMs": ttl});
        let input = json!({"task_id": task, "epoch": epoch, "lease_ms": ttl});
        ask(
            format!("/v1/tasks/{task}/renew"),
            body,
            "renew-task-claim",
            input,
        )
    });
    let ends = prop::sample::select(vec![("complete", "completed"), ("fail", "failed")]);
    let finish = (task(), 0_u64..4, ends).prop_map(|(task, epoch, (way, to))| {
        let target = format!("/v1/tasks/{task}/{way}");
        let input = json!({"task_id": task, "from": "in_progress", "to": to, "epoch": epoch});
        ask(
            target,
            json!({"epoch": epoch}),
            "transition-task-status",
            input,
        )
    });
    let agents = prop::collection::vec(agent(), 0..3);
    let start = (prop::option::of(task()), agents).prop_map(|(task, agents)| {
        let body = json!({"taskId": task, "participants": agents});
        let input = json!({"task_id": task, "participants": agents});
        ask("/v1/threads", body, "thread-start", input)
    });
    let post = (thread(), agent()).prop_map(|(thread, agent)| {
        let target = format!("/v1/threads/{thread}/messages");
        let input = json!({"thread_id": thread, "worker": agent, "body": "said"});
        ask(
            target,
            json!({"agentId": agent, "body": "said"}),
            "thread-post",
            input,
        )
    });
    let link = (thread(), task()).prop_map(|(thread, task)| {
        let target = format!("/v1/threads/{thread}/link");
        let input = json!({"thread_id": thread, "task_id": task});
        ask(target, json!({"taskId": task}), "thread-link", input)
    });
    let used = (agent(), 0_u64..1_000).prop_map(|(agent, tokens)| {
        let input = json!({"worker": agent, "tokens": tokens});
        ask(
            "/v1/usage",
            json!({"agentId": agent, "tokens": tokens}),
            "report-usage",
            input,
        )
    });
    let wait = (1_i64..90).prop_map(|seconds| Step::Wait(seconds * SECOND));
    prop_oneof![
        3 => create, 4 => claim, 2 => renew, 4 => finish, 1 => start, 2 => post, 1 => link, 1 => used, 2 => wait,
    ]
}

impl Step {
    /// Runs the step over HTTP. Returns false if the step is refused. Without HTTP, the step must be refused too,
    /// possibly with another message.
    pub fn over_http(&self, world: &World) -> bool {
        match self {
            Step::Ask((target, body), _) => world.post(target, body.clone()).status < 300,
            Step::Wait(micros) => {
                world.later(*micros);
                true
            }
        }
    }

    fn straight(&self, world: &World) -> bool {
        match self {
            Step::Ask(_, (name, input)) => {
                let mut team = world.served.team("demo").unwrap();
                let operation = api::find(name).unwrap();
                operation.execute(&mut team, &input.to_string()).is_ok()
            }
            Step::Wait(micros) => {
                world.later(*micros);
                true
            }
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
            prop_assert_eq!(step.over_http(&http), step.straight(&team), "{:?}", step);
        }
        prop_assert_eq!(digest(&http), digest(&team));
    }
}
