//! Calls every route with valid input, with invalid input, and without a token.

use super::stand::{Stand, TEAM};
use crate::client::until;
use std::collections::BTreeSet;
use std::time::Duration;
use teamlog_server::agent_token;
use teamlog_server::route::{ROUTES, Route};

/// One valid call per route. The order ensures that each call finds the objects that it names.
const GOOD: &str = r#"
createTask /v1/tasks {"title":"one","resources":["src"]}
createTask /v1/tasks {"title":"two"}
listTasks /v1/tasks?teamId=demo
getTask /v1/tasks/1
claimTask /v1/tasks/1/claim {"agentId":"ada"}
claimTask /v1/tasks/2/claim {"agentId":"ada","ttlMs":60000}
renewTask /v1/tasks/1/renew {"agentId":"ada","epoch":1}
canWrite /v1/can-write?agentId=ada&path=src%2Fa.rs
completeTask /v1/tasks/1/complete {"epoch":1}
failTask /v1/tasks/2/fail {"epoch":1}
startThread /v1/threads {"participants":["ada"]}
postMessage /v1/threads/thread-0001/messages {"message":"hello"}
listMessages /v1/threads/thread-0001/messages?tail=5
tailThread /v1/threads/thread-0001/tail?limit=5
searchThreads /v1/threads/search?q=hello
search /v1/search?q=hello
linkThread /v1/threads/thread-0001/link {"taskId":"1"}
commentTask /v1/tasks/1/comments {"agentId":"ada","body":"on main"}
listComments /v1/tasks/1/comments?limit=5
readInbox /v1/inbox?agentId=ada&since=0
reportUsage /v1/usage {"agentId":"ada","tokens":100}
getUsage /v1/usage?agentId=ada
listTeams /v1/teams
setUpTeam /v1/teams {"teamId":"demo","agents":[{"id":"ada","role":"parser"}],"budget":{"maxTokens":1000000,"hardLimit":true}}
getTeam /v1/teams/demo
getStatus /v1/status
getWho /v1/who
listAttention /v1/attention?limit=5
getTaskHistory /v1/tasks/1/history?limit=5
listReady /v1/ready?agentId=ada
readMailbox /v1/mailbox?agentId=ada
getUsageSeries /v1/usage/series?by=agent&buckets=3
listMachines /v1/machines
listThreads /v1/threads?limit=5
listDeliveries /v1/deliveries?limit=5
listDeadLetters /v1/dead-letters?limit=5
listTraces /v1/traces?limit=5
getDiff /v1/diff?from=1&to=3
explainMode /v1/modes/explain?mode=forge
listRuns /v1/bootstrap
callOperation /v1/api/bootstrap-start {"run":"r-1"}
getRun /v1/bootstrap/r-1
listEvents /v1/events?after=0&limit=5&tag=pr=7
appendEvents /v1/events {"kind":"build_finished","tags":["pr=7"]}
getTrace /v1/trace/none
subscribe /v1/subscriptions {"name":"watch","from":"start","window":2,"maxAttempts":1}
listSubscriptions /v1/subscriptions
getSubscription /v1/subscriptions/watch
fetchSubscription /v1/subscriptions/watch/fetch {"timeoutMs":0}
nakSubscription /v1/subscriptions/watch/nak {"epoch":1,"seq":2,"reason":"no disk"}
ackSubscription /v1/subscriptions/watch/ack {"epoch":1,"seqs":[1]}
replaySubscription /v1/subscriptions/watch/replay {"seq":2}
releaseSubscription /v1/subscriptions/watch/release {"epoch":1}
deleteSubscription /v1/subscriptions/watch/delete {}
listModes /v1/modes?active=true
callOperation /v1/api/declare-projection {"name":"counts","fold":"fn fold(event) { this.n = event.seq; }"}
listProjections /v1/projections
getProjection /v1/projections/counts?limit=5
getVerification /v1/verify
startVerification /v1/verify {}
getExamination /v1/doctor
startExamination /v1/doctor {}
getHead /v1/head?sign=false
checkReceipt /v1/receipts/check {"receipt":{"log":"another","seq":1,"segment":"s","length":1,"digest":"d"}}
getStorage /v1/storage
callOperation /v1/api/list-tasks {}
getSession /v1/session
getDocument /v1/openapi.json
"#;

/// Routes that refuse the token of a team. `page_sessions.rs` calls them.
const NOT_FOR_A_TOKEN: [&str; 3] = ["openSession", "endSession", "listRootTeams"];

/// Returns id of the route, target and body of each valid call.
fn good() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    GOOD.lines().skip(1).map(|line| {
        let mut words = line.splitn(3, ' ');
        let mut next = || words.next().unwrap_or_default();
        (next(), next(), next())
    })
}

fn route(id: &str) -> &'static Route {
    ROUTES.iter().find(|route| route.id == id).unwrap()
}

/// Adds a field that no route has to the target or to the body.
fn spoiled(target: &str, body: &str) -> (String, String) {
    match body {
        "" => {
            let sign = if target.contains('?') { '&' } else { '?' };
            (format!("{target}{sign}nonsense=1"), String::new())
        }
        body => {
            let fields = body.trim_start_matches('{');
            let comma = if fields == "}" { "" } else { "," };
            (
                target.to_owned(),
                format!("{{\"nonsense\":1{comma}{fields}"),
            )
        }
    }
}

/// The route whose valid call is in the tests of `routes`, because the call needs a manual clock.
const WANTS_A_DEAD_LETTER: &str = "requeueDeadLetter";

#[test]
fn every_route_is_among_the_good_calls() {
    let called: BTreeSet<&str> = good().map(|(id, ..)| id).collect();
    for route in ROUTES.iter() {
        let elsewhere = NOT_FOR_A_TOKEN.contains(&route.id) || route.id == WANTS_A_DEAD_LETTER;
        assert!(elsewhere != called.contains(route.id), "{}", route.id);
    }
}

#[test]
fn good_calls_are_answered_and_the_same_without_a_token_or_with_nonsense_are_not() {
    let stand = Stand::within(|limits| limits.guess_delay = Duration::ZERO);
    for (id, target, body) in good() {
        let facts = route(id);
        let method = facts.method.name();
        let wrong = format!("Bearer {}", "0".repeat(64));
        for headers in [
            vec![],
            vec![("Authorization", wrong.as_str())],
            vec![("Authorization", "Basic eA==")],
        ] {
            let heard = stand.ask(method, target, &headers, body);
            heard.refused(401, "unauthorized");
        }
        let (odd_target, odd_body) = spoiled(target, body);
        let heard = stand.with_token(method, &odd_target, &odd_body);
        heard.refused(400, "invalid_input");
        let heard = stand.with_token(method, target, body);
        assert_eq!(heard.status, facts.status, "{id}: {heard:?}");
        assert!(
            heard.body.ends_with('\n') && heard.body.trim_end().lines().count() == 1,
            "{id}"
        );
        assert_eq!(
            heard.header("content-type"),
            Some("application/json; charset=utf-8"),
            "{id}"
        );
    }
}

#[test]
fn every_body_that_is_no_object_of_json_is_refused() {
    let stand = Stand::new();
    for (_, target, _) in good().filter(|(.., body)| !body.is_empty()) {
        for odd in ["[]", "{", "null", "\u{feff}[]"] {
            let heard = stand.with_token("POST", target, odd);
            heard.refused(400, "invalid_json");
        }
    }
}

#[test]
fn other_methods_and_other_paths_are_told_as_such() {
    let stand = Stand::new();
    for (method, target, status, code) in [
        ("PUT", "/v1/tasks", 405, "method_not_allowed"),
        ("DELETE", "/v1/tasks/1", 405, "method_not_allowed"),
        ("GET", "/v1/tasks/1/claim", 405, "method_not_allowed"),
        ("GET", "/v1/nothing", 404, "not_found"),
        ("GET", "/v1/tasks/", 404, "not_found"),
        ("GET", "/v1/tasks/..%2Fruntime", 400, "invalid_input"),
    ] {
        stand.with_token(method, target, "").refused(status, code);
    }
}

#[test]
fn a_budget_refuses_new_work_and_warns_before() {
    let stand = Stand::new();
    let script = r#"
        200 - /v1/api/set-budget {"max_tokens":1000,"soft_limit_tokens":500,"hard_limit":true}
        201 - /v1/tasks {"title":"one"}
        200 - /v1/tasks/1/claim {"agentId":"ada"}
        200 600 /v1/usage {"agentId":"ada","taskId":"1","tokens":600}
        201 600 /v1/tasks {"title":"two"}
        200 1001 /v1/usage {"agentId":"ada","inputTokens":400,"outputTokens":1}
        429 - /v1/tasks {"title":"three"}
        429 - /v1/tasks/2/claim {"agentId":"ada"}
        429 - /v1/threads {}
        200 1001 /v1/tasks/1/renew {"epoch":1}
        200 1001 /v1/tasks/1/complete {"epoch":1}
    "#;
    for line in script
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
    {
        let words: Vec<&str> = line.splitn(4, ' ').collect();
        let [status, warning, target, body] = words[..] else {
            panic!("{line}");
        };
        let heard = stand.with_token("POST", target, body);
        assert_eq!(heard.status.to_string(), status, "{line} {heard:?}");
        let told = heard.header("x-budget-warning").unwrap_or("-");
        assert!(told.contains(warning), "{line} {told}");
        if heard.status == 429 {
            assert_eq!(heard.code(), "budget_exceeded");
            assert_eq!(heard.header("retry-after"), None);
        }
    }
}

#[test]
fn a_token_that_is_used_too_often_has_to_rest() {
    let stand = Stand::within(|limits| limits.agent_calls = 1);
    let [ada, bob] = ["ada", "bob"].map(|agent| {
        let joins = format!(r#"{{"agentId":"{agent}","tokens":1}}"#);
        stand.with_token("POST", "/v1/usage", &joins).is(200);
        let token = agent_token::new(TEAM, agent).unwrap();
        let digest = agent_token::digest(&token);
        let adds = format!(r#"{{"agent":"{agent}","digest":"{digest}"}}"#);
        stand.with_token("POST", "/v1/api/token-add", &adds).is(200);
        format!("Bearer {token}")
    });
    let asks = |bearer: &str| stand.ask("GET", "/v1/status", &[("Authorization", bearer)], "");
    asks(&ada).is(200);
    // On a busy machine, more than one attempt may be needed to exceed the rate limit.
    let mut others = (0..60).map(|_| asks(&ada));
    let refused = others.find(|heard| heard.status != 200).unwrap();
    refused.refused(429, "rate_limited");
    assert_eq!(refused.header("retry-after"), Some("1"));
    // The limit does not affect the token of another agent.
    asks(&bob).is(200);
    until("it has rested", || asks(&ada).status == 200);
}
