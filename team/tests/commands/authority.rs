//! Tests of the authorization of an authenticated agent, for every operation that records events.

use crate::agent_tokens::as_agent;
use crate::hostile::each;
use crate::prelude::*;
use teamlog_team::api::{Effect, Fault, OPERATIONS, OperationAnswer};
use teamlog_team::ownership::rename::RenameAgent;
use teamlog_team::ownership::review::ReviewRequest;

/// Expected outcome if an agent names other agents, or presents claims of other agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expected {
    /// Refused: the input names another agent as actor.
    Mismatch,
    /// Refused: the operation presents a claim of another agent.
    Holder,
    /// Refused: only the leader may do this.
    Leader,
    /// Allowed, for the given reason.
    Allowed(&'static str),
}

use Expected::{Allowed, Holder, Leader, Mismatch};

const TEAMS: &str = "belongs to the team as a whole, and is recorded as the caller's";
const OPERATES: &str = "needs the scope operate, which the server asks for";

/// Every operation that records events. The test fails if an operation is missing here.
const TABLE: &[(&str, Expected)] = &[
    ("ack", Mismatch),
    ("append", Mismatch),
    ("append-batch", Mismatch),
    ("append-event", Mismatch),
    ("artifact-put", Mismatch),
    (
        "assign-task",
        Allowed("takes a held task from its holder for the leader alone"),
    ),
    ("bootstrap-record", Allowed(TEAMS)),
    ("bootstrap-start", Allowed(TEAMS)),
    ("broadcast", Mismatch),
    ("cancel-task", Holder),
    ("claim-next-task", Mismatch),
    ("claim-task", Mismatch),
    ("cleanup", Allowed(OPERATES)),
    ("comment-task", Mismatch),
    ("config-set", Allowed(OPERATES)),
    ("config-unset", Allowed(OPERATES)),
    ("create-task", Allowed(TEAMS)),
    ("declare-projection", Leader),
    (
        "edit-task",
        Allowed("edits a held task for its holder and the leader alone"),
    ),
    (
        "get-summary",
        Allowed("records only when the team was looked at"),
    ),
    ("mailbox-mark-delivered", Mismatch),
    (
        "mailbox-mark-notified",
        Allowed("says that an agent was told, not that it acted"),
    ),
    ("mode-cancel", Allowed(TEAMS)),
    ("mode-clear", Allowed(TEAMS)),
    ("mode-complete", Allowed(TEAMS)),
    ("mode-end-session", Allowed(TEAMS)),
    ("mode-fail", Allowed(TEAMS)),
    ("mode-prompt", Allowed(TEAMS)),
    ("mode-start", Allowed(TEAMS)),
    ("mode-update", Allowed(TEAMS)),
    ("mode-write", Allowed(TEAMS)),
    ("nudge", Allowed("wakes agents in the name of the caller")),
    ("orphan-cleanup", Allowed(OPERATES)),
    ("record-refused-writes", Mismatch),
    ("release-task-claim", Holder),
    ("remove-projection", Leader),
    ("rename-agent", Allowed(OPERATES)),
    ("renew-task-claim", Holder),
    ("reopen-task", Allowed("a failed task has no holder")),
    ("report-usage", Mismatch),
    ("request-review", Mismatch),
    ("requeue-dead-letter", Allowed(TEAMS)),
    ("retire-agent", Allowed(OPERATES)),
    ("send", Mismatch),
    ("send-message", Mismatch),
    ("set-budget", Allowed(OPERATES)),
    (
        "set-task-resources",
        Allowed("is refused while a task is claimed"),
    ),
    ("state-clear", Allowed(TEAMS)),
    ("state-write", Allowed(TEAMS)),
    ("thread-link", Allowed(TEAMS)),
    ("thread-post", Mismatch),
    ("thread-start", Mismatch),
    ("tick", Allowed("records what time brought about")),
    ("token-add", Allowed(OPERATES)),
    ("token-revoke", Allowed(OPERATES)),
    ("transition-task-status", Holder),
    ("undo", Mismatch),
    (
        "update-task",
        Allowed("says what a task is about, and moves no claim"),
    ),
    ("update-worker-heartbeat", Mismatch),
    ("write-leader-attention", Allowed(TEAMS)),
    ("write-monitor-snapshot", Allowed(TEAMS)),
    ("write-shutdown-ack", Mismatch),
    ("write-shutdown-request", Mismatch),
    ("write-task-approval", Mismatch),
    ("write-worker-identity", Mismatch),
    (
        "write-worker-inbox",
        Allowed("is mail for the worker, and no doing of its own"),
    ),
    ("write-worker-status", Mismatch),
];

/// The operations that an agent outside a team with fixed members may call, each with the reason.
const OPEN_TO_OUTSIDERS: &[(&str, &str)] = &[
    ("append", "a fact of another tool"),
    ("append-batch", "facts of another tool"),
    ("append-event", "a report of a broker"),
    ("artifact-put", "names its worker, who must be a member"),
    ("bootstrap-record", "a signal of a broker"),
    ("bootstrap-start", "a signal of a broker"),
    ("get-summary", "records only when the team was looked at"),
    ("mailbox-mark-notified", "a mark of a broker"),
    ("mode-end-session", "the hook of any agent in the directory"),
    ("mode-prompt", "the prompt of a person"),
    ("nudge", "wakes agents and changes nothing"),
    (
        "requeue-dead-letter",
        "delivers a message of a member again",
    ),
    ("thread-link", "names its worker, who must be a member"),
    ("tick", "records what time brought about"),
    ("write-leader-attention", "a report of a broker"),
    ("write-monitor-snapshot", "a report of a broker"),
    (
        "write-shutdown-request",
        "names its worker, who must be a member",
    ),
    (
        "write-worker-inbox",
        "names its worker, who must be a member",
    ),
];

fn called(root: &Root, name: &str, input: Map<String, Value>) -> Result<OperationAnswer, Fault> {
    api::call(root, api::find(name).unwrap(), input, Control::default())
}

fn code(fault: &Fault) -> String {
    let precise = fault.details.get("code").and_then(Value::as_str);
    precise.unwrap_or(&fault.code).to_owned()
}

#[test]
fn the_table_names_every_operation_that_records() {
    let records = OPERATIONS
        .iter()
        .filter(|known| known.effect == Effect::Records);
    let mut records: Vec<&str> = records.map(|known| known.name).collect();
    records.sort_unstable();
    let listed: Vec<&str> = TABLE.iter().map(|(name, _)| *name).collect();
    assert_eq!(records, listed);
}

#[test]
fn an_agent_that_names_another_is_refused_or_allowed_for_a_stated_reason() {
    let mut wrong = Vec::new();
    let mut seen_names = BTreeSet::new();
    each(|operation, world, input| {
        let row = TABLE.iter().find(|(name, _)| *name == operation.name);
        let Some((name, expected)) = row.filter(|(_, expected)| *expected != Holder) else {
            return;
        };
        if !seen_names.insert(*name) {
            return;
        }
        let before = events(&mut world.root.team("demo").unwrap()).len();
        let outcome = called(&as_agent(world, "qa"), name, input.clone()).map(drop);
        let seen = outcome.as_ref().map_err(code).err();
        let recorded = events(&mut world.root.team("demo").unwrap()).len() > before;
        let right = match expected {
            Allowed(_) => seen.is_none(),
            Leader => seen.as_deref() == Some("leader_required") && !recorded,
            _ => seen.as_deref() == Some("actor_mismatch") && !recorded,
        };
        if !right {
            wrong.push((name, expected, seen));
        }
    });
    let all = TABLE.iter().filter(|(_, expected)| *expected != Holder);
    assert_eq!(seen_names.len(), all.count(), "{seen_names:?}");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn an_agent_outside_a_team_with_fixed_members_changes_nothing() {
    let is_open = |name: &str| OPEN_TO_OUTSIDERS.iter().any(|(open, _)| *open == name);
    let mut wrong = Vec::new();
    each(|operation, world, input| {
        let name = operation.name;
        // These operations act for the worker of their input, or present a claim.
        let names_worker = TABLE
            .iter()
            .any(|(row, expected)| *row == name && matches!(expected, Mismatch | Holder));
        if operation.effect != Effect::Records || is_open(name) || names_worker {
            return;
        }
        let before = events(&mut world.root.team("demo").unwrap()).len();
        let mut asked = input.clone();
        asked.insert("actor".into(), "mallory".into());
        let outcome = called(&world.root, name, asked).map(drop);
        let seen = outcome.as_ref().map_err(code).err();
        let recorded = events(&mut world.root.team("demo").unwrap()).len() > before;
        if seen.as_deref() != Some("worker_not_found") || recorded {
            wrong.push((name, seen, recorded));
        }
    });
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_leader_and_callers_without_a_name_change_a_team_with_fixed_members() {
    let world = World::new();
    let mut team = world.team(Some(&["dev", "qa"]), Format::Jsonl);
    let create =
        |team: &mut Team| team.task_create(given!(TaskCreate, subject: "one", description: "d"));
    for actor in ["lead", "leader-fixed", "teamlog", "dev"] {
        team.under(given!(Control, actor));
        create(&mut team).unwrap();
    }
    team.under(Control::default());
    create(&mut team).unwrap();
    team.under(given!(Control, actor: "ada", user: "ada"));
    create(&mut team).unwrap();
    team.under(given!(Control, actor: "mallory", user: "ada"));
    let refusal = refused(create(&mut team), Code::WorkerNotFound);
    assert_eq!(refusal.field.as_deref(), Some("actor"));
    shows!(refusal.hint.as_deref().unwrap() => has "known agents: dev, qa");
    let config = given!(ConfigChange, key: "members.open", value: "true");
    refused(team.config_change(config.clone()), Code::WorkerNotFound);
    // The input names the outsider, not the caller.
    team.under(Control::default());
    let cancel = given!(TaskCancel, task_id: "1", worker: "mallory");
    refused(team.task_cancel(cancel), Code::WorkerNotFound);
    // If the membership is open, any agent may act.
    team.config_change(config).unwrap();
    team.under(given!(Control, actor: "mallory"));
    create(&mut team).unwrap();
}

#[test]
fn the_agent_that_creates_a_team_leads_it() {
    let world = World::new();
    let init = |agent: &str, members: &[&str]| {
        let members = members.iter().map(|name| name.to_string()).collect();
        let agent = Some(agent.to_owned());
        world.root.init(Init {
            members,
            agent,
            ..Init::for_team("demo")
        })
    };
    let answer = init("boss", &["dev", "qa"]).unwrap();
    assert_eq!(answer.members, ["boss", "dev", "qa"]);
    let mut team = world.root.team("demo").unwrap();
    assert_eq!(events(&mut team)[0]["payload"]["leader"], "boss");
    team.task_create(given!(TaskCreate, subject: "one", description: "d"))
        .unwrap();
    team.task_claim(given!(TaskClaim, task_id: "1", worker: "dev"))
        .unwrap();
    let review = json!({"task_id": "1", "worker": "dev"});
    let review = serde_json::from_value::<ReviewRequest>(review).unwrap();
    assert_eq!(team.request_review(review).unwrap().reviewer, "boss");
    let take = |worker: &str| given!(TaskAssignment, task_id: "1", owner: "qa", worker);
    refused(team.task_assignment(take("qa")), Code::NotHolder);
    let shown = |team: &mut Team| team.task_show(given!(TaskShow, task_id: "1")).unwrap();
    assert_eq!(shown(&mut team).leader, "boss");
    // The leader keeps its part under another name.
    let rename = given!(RenameAgent, agent: "boss", new_name: "chief");
    team.rename_agent(rename).unwrap();
    assert_eq!(shown(&mut team).leader, "chief");
    team.task_assignment(take("chief")).unwrap();
    // Only members and the leader add members.
    refused(init("mallory", &["mallory"]), Code::WorkerNotFound);
    assert_eq!(init("dev", &["ops"]).unwrap().added, ["ops"]);
    settled_digest(&mut team);
}

/// Creates a team in which `dev` holds task 1. Also returns the claim token.
fn held() -> (World, String) {
    let (world, mut team) = demo();
    team.task_create(given!(TaskCreate, subject: "one", description: "d"))
        .unwrap();
    let claimed = team
        .task_claim(given!(TaskClaim, task_id: "1", worker: "dev"))
        .unwrap();
    (world, claimed.claim_token)
}

/// Returns the ways to present the claim of `dev`: by epoch, by token, by both, by nothing.
fn presented(token: &str) -> [Value; 4] {
    [
        json!({"epoch": 1}),
        json!({"claim_token": token}),
        json!({"epoch": 1, "claim_token": token}),
        json!({}),
    ]
}

fn input(name: &str, worker: Option<&str>, force: bool, presented: &Value) -> Map<String, Value> {
    let mut input = presented.as_object().unwrap().clone();
    let fields = match name {
        "transition-task-status" => json!({"from": "in_progress", "to": "completed"}),
        // A release must name a worker.
        "release-task-claim" => json!({"worker": worker.unwrap_or("qa")}),
        _ => json!({}),
    };
    input.extend(fields.as_object().unwrap().clone());
    if let Some(worker) = worker {
        input.insert("worker".into(), worker.into());
    }
    if force {
        input.insert("force".into(), true.into());
    }
    input.insert("team_name".into(), "demo".into());
    input.insert("task_id".into(), "1".into());
    input
}

#[test]
fn a_claim_is_ended_and_renewed_by_its_holder_alone_whoever_knows_its_token() {
    let names = TABLE.iter().filter(|(_, expected)| *expected == Holder);
    for (name, _) in names {
        let (world, token) = held();
        let before = events(&mut world.root.team("demo").unwrap()).len();
        for (worker, force) in [None, Some("qa"), Some("dev"), Some("leader-fixed")]
            .into_iter()
            .flat_map(|worker| [(worker, false), (worker, true)])
        {
            for presented in presented(&token) {
                let asked = input(name, worker, force, &presented);
                let fault = called(&as_agent(&world, "qa"), name, asked.clone()).map(drop);
                let fault = fault.expect_err(&format!("{name} {asked:?}"));
                let known = [
                    "not_holder",
                    "claim_conflict",
                    "actor_mismatch",
                    "invalid_input",
                ];
                assert!(
                    known.contains(&&*code(&fault)),
                    "{name} {asked:?}: {fault:?}"
                );
                assert!(!format!("{fault:?}").contains(&token), "{fault:?}");
            }
        }
        assert_eq!(
            events(&mut world.root.team("demo").unwrap()).len(),
            before,
            "{name}"
        );
        // The holder may present the claim, and the leader may present it with force.
        for (agent, force) in [("dev", false), ("leader-fixed", true)] {
            for presented in presented(&token).into_iter().take(3) {
                let (world, own) = held();
                let mut asked = input(name, Some(agent), force, &presented);
                if asked.contains_key("claim_token") {
                    asked.insert("claim_token".into(), own.into());
                }
                called(&as_agent(&world, agent), name, asked).unwrap();
            }
        }
    }
}

#[test]
fn a_key_belongs_to_the_agent_that_uses_it() {
    let (world, mut team) = demo();
    let create = |root: &Root| {
        let Value::Object(input) =
            json!({"team_name": "demo", "subject": "one", "description": "d", "key": "k"})
        else {
            unreachable!()
        };
        let answered = called(root, "create-task", input).unwrap();
        let data: Value = serde_json::from_str(answered.data.get()).unwrap();
        data["task"]["id"].as_str().unwrap().to_owned()
    };
    let (dev, qa) = (as_agent(&world, "dev"), as_agent(&world, "qa"));
    assert_eq!(
        [create(&dev), create(&qa), create(&world.root)],
        ["1", "2", "3"]
    );
    assert_eq!(
        [create(&dev), create(&qa), create(&world.root)],
        ["1", "2", "3"]
    );
    let stored = events(&mut team);
    let stored = stored
        .iter()
        .filter(|event| event["kind"] == "response_stored");
    let agents: Vec<&Value> = stored.map(|event| &event["payload"]["agent"]).collect();
    assert_eq!(agents, [&json!("dev"), &json!("qa"), &Value::Null]);
    settled_digest(&mut team);
}

#[test]
fn a_key_that_was_recorded_before_keys_belonged_to_agents_is_found_by_its_actor_alone() {
    let (world, mut team) = demo();
    let create = |root: &Root, actor: Option<&str>| {
        let mut input =
            json!({"team_name": "demo", "subject": "one", "description": "d", "key": "k"});
        if let Some(actor) = actor {
            input["actor"] = actor.into();
        }
        let answered = called(root, "create-task", input.as_object().unwrap().clone()).unwrap();
        let data: Value = serde_json::from_str(answered.data.get()).unwrap();
        data["task"]["id"].as_str().unwrap().to_owned()
    };
    assert_eq!(create(&world.root, Some("dev")), "1");
    assert_eq!(create(&as_agent(&world, "dev"), Some("dev")), "1");
    assert_eq!(create(&as_agent(&world, "qa"), Some("qa")), "2");
    settled_digest(&mut team);
}

#[test]
fn a_key_of_append_belongs_to_the_agent_that_uses_it() {
    let (world, mut team) = demo();
    let append = |root: &Root| {
        let mut team = root.team("demo").unwrap();
        let key = Some("k".to_owned());
        let answer = team
            .append(Append {
                key,
                ..fact("built")
            })
            .unwrap();
        (answer.seq, team.repeated())
    };
    let roots = [
        as_agent(&world, "dev"),
        as_agent(&world, "qa"),
        world.root.clone(),
    ];
    let first = roots.each_ref().map(append);
    assert!(first.iter().all(|(_, repeated)| !repeated), "{first:?}");
    let again = roots.each_ref().map(append);
    assert_eq!(again, first.map(|(seq, _)| (seq, true)));
    settled_digest(&mut team);
}

fn fact(kind: &str) -> Append {
    given!(Append, kind)
}

#[test]
fn what_an_agent_says_without_its_name_is_said_by_it() {
    let (world, _team) = demo();
    let mut qa = as_agent(&world, "qa").team("demo").unwrap();
    let start = given!(teamlog_team::thread::start::ThreadStart, title: "one");
    let thread = qa.thread_start(start).unwrap().thread;
    let shown = serde_json::to_value(&thread).unwrap();
    assert_eq!(shown["participants"], json!(["qa"]));
    let post = given!(teamlog_team::thread::post::ThreadPost, thread_id: "thread-0001", body: "b");
    let posted = serde_json::to_value(qa.thread_post(post).unwrap()).unwrap();
    assert_eq!(posted["message"]["from"], "qa");
}
