//! The table of routes, and the search for the route of a path.

use super::endpoint::Route;
use super::{
    attention, comments, deliveries, events, inbox, openapi, operations, page_session, paths, root,
    runs, subscriptions, tasks, teams, threads, usage,
};
use crate::call::Method;
use serde_json::{Map, Value};
use std::sync::LazyLock;
use teamlog_team::attention::Attention;
use teamlog_team::message::dead_letter::RequeueAnswer;
use teamlog_team::thread::{post::ThreadPostAnswer, start::ThreadAnswer};
use teamlog_team::usage::report::{ReportUsage, TOKENS_MAX, Usage};
use teamlog_team::usage::series::UsageSeries;
use teamlog_team::{
    bootstrap, integrity, lifecycle, log, message, mode, receipt, resource, scripted, search,
    story, subscription, task, thread, worker,
};

/// Every route, in the order of the documents. If two patterns match a path, the first pattern is used.
pub static ROUTES: LazyLock<Vec<Route>> = LazyLock::new(|| {
    vec![
        // Team
        Route::reads("/v1/teams", "listTeams", teams::list)
            .like::<lifecycle::read_team::ReadTeam>()
            .doc("List the team of the token"),
        Route::records::<_, teams::OneTeam>("/v1/teams", "setUpTeam", teams::set_up)
            .doc("Add members to the team of the token, or set its token budget")
            .operates()
            .status(201),
        Route::reads("/v1/teams/{team}", "getTeam", teams::show).like::<lifecycle::read_team::ReadTeam>(),
        Route::answers::<lifecycle::status::Status>("/v1/status", "getStatus"),
        Route::answers::<worker::who::Who>("/v1/who", "getWho"),
        Route::looks("/v1/attention", "listAttention", attention::list)
            .like::<Attention>(),
        // Tasks
        Route::reads("/v1/tasks", "listTasks", tasks::list)
            .like::<task::list::Tasks>()
            .page(1_000),
        Route::records::<_, tasks::OneTask>("/v1/tasks", "createTask", tasks::create)
            .like::<task::create::TaskCreate>()
            .status(201),
        Route::reads("/v1/tasks/{taskId}", "getTask", tasks::show).like::<task::read::ReadTask>(),
        Route::reads("/v1/tasks/{taskId}/history", "getTaskHistory", events::task_history)
            .like::<task::history::TaskHistory>()
            .page(1_000),
        Route::reads("/v1/tasks/{taskId}/comments", "listComments", comments::list)
            .doc("Read the comments on a task, newest page first")
            .codes(comments::READING),
        Route::records::<_, comments::Commented>("/v1/tasks/{taskId}/comments", "commentTask", comments::write)
            .like::<thread::comment::TaskComment>()
            .status(201),
        Route::answers::<task::ready::Ready>("/v1/ready", "listReady").page(1_000),
        Route::records::<_, tasks::Leased>("/v1/tasks/{taskId}/claim", "claimTask", tasks::claim)
            .like::<task::claim::TaskClaim>(),
        Route::records::<_, tasks::Leased>("/v1/tasks/{taskId}/renew", "renewTask", tasks::renew)
            .like::<task::renew::TaskRenew>()
            .codes(tasks::HOLDING),
        Route::records::<_, tasks::OneTask>("/v1/tasks/{taskId}/complete", "completeTask", tasks::complete)
            .doc("Complete a claimed task, which frees the tasks that depend on it")
            .codes(tasks::COMPLETING),
        Route::records::<_, tasks::OneTask>("/v1/tasks/{taskId}/fail", "failTask", tasks::fail)
            .doc("Fail a claimed task")
            .codes(tasks::HOLDING),
        Route::reads("/v1/can-write", "canWrite", paths::can_write)
            .like::<resource::can_write::CanWrite>()
            .of_now(),
        // Threads, and the feeds of agents
        Route::records::<_, ThreadAnswer>("/v1/threads", "startThread", threads::start)
            .like::<thread::start::ThreadStart>()
            .status(201),
        Route::answers::<thread::list::ThreadList>("/v1/threads", "listThreads").page(200),
        Route::reads("/v1/threads/search", "searchThreads", threads::search)
            .like::<thread::search::ThreadSearch>()
            .page(200),
        Route::answers::<search::Search>("/v1/search", "search").page(200),
        Route::records::<_, ThreadPostAnswer>("/v1/threads/{threadId}/messages", "postMessage", threads::post)
            .like::<thread::post::ThreadPost>()
            .status(201),
        Route::reads("/v1/threads/{threadId}/messages", "listMessages", threads::messages)
            .like::<thread::tail::ThreadTail>(),
        Route::reads("/v1/threads/{threadId}/tail", "tailThread", threads::tail).like::<thread::tail::ThreadTail>(),
        Route::records::<_, ThreadAnswer>("/v1/threads/{threadId}/link", "linkThread", threads::link)
            .like::<thread::link::ThreadLink>(),
        Route::reads("/v1/inbox", "readInbox", inbox::inbox)
            .like::<message::inbox_feed::InboxFeed>()
            .page(1_000),
        Route::answers::<message::read::Read>("/v1/mailbox", "readMailbox"),
        Route::answers::<message::deliveries::DeliveryList>("/v1/deliveries", "listDeliveries")
            .page(1_000),
        Route::answers::<message::dead_letter::DeadLetterList>("/v1/dead-letters", "listDeadLetters")
            .page(1_000),
        Route::records::<_, RequeueAnswer>("/v1/dead-letters/{messageId}/requeue", "requeueDeadLetter", deliveries::requeue)
            .like::<message::dead_letter::DeadLetterRequeue>(),
        // Usage and budgets
        Route::reads("/v1/usage", "getUsage", usage::show)
            .like::<Usage>()
            .page(1_000),
        Route::answers::<UsageSeries>("/v1/usage/series", "getUsageSeries"),
        Route::records::<_, usage::Body>("/v1/usage", "reportUsage", usage::report)
            .like::<ReportUsage>()
            .bounded("inputTokens", "maximum", TOKENS_MAX)
            .bounded("outputTokens", "maximum", TOKENS_MAX)
            .bounded("tokens", "maximum", TOKENS_MAX),
        // Events, traces and streams
        Route::looks("/v1/events", "listEvents", events::events)
            .like::<log::events::Events>()
            .doc("List the events of the log after a seq; with `Accept: text/event-stream` as a stream of new events, \
                which without `after` begins now")
            .streams(),
        Route::records::<_, events::Appended>("/v1/events", "appendEvents", events::append)
            .like::<log::append_batch::AppendFacts>()
            .doc("Record one event of your own kind, or several in `events`, all of them or none; `if_seq` and `if_none` are conditions")
            .unrenamed()
            .status(201),
        Route::reads("/v1/trace/{traceId}", "getTrace", events::trace)
            .like::<story::trace::Trace>()
            .bounded("limit", "default", events::TRACE_EVENTS),
        Route::answers::<log::traces::Traces>("/v1/traces", "listTraces"),
        Route::answers::<log::points::ReadDiff>("/v1/diff", "getDiff").page(1_000),
        Route::answers::<mode::show::ModeList>("/v1/modes", "listModes").page(1_000),
        // Subscriptions
        Route::answers::<subscription::manage::SubscriptionList>("/v1/subscriptions", "listSubscriptions")
            .of_now(),
        Route::answers::<subscription::manage::Subscribe>("/v1/subscriptions", "subscribe")
            .of_subscription()
            .in_body(),
        Route::answers::<subscription::manage::ShowSubscription>("/v1/subscriptions/{name}", "getSubscription")
            .of_now(),
        Route::looks("/v1/subscriptions/{name}/fetch", "fetchSubscription", subscriptions::fetch)
            .like::<subscription::fetch::FetchSubscription>()
            .doc("Take or renew the lease of a subscription, and get its next events; with `Accept: text/event-stream` \
                as a stream, whose events are acknowledged as usual")
            .also_streams()
            .in_body(),
        Route::answers::<subscription::settle::AckSubscription>("/v1/subscriptions/{name}/ack", "ackSubscription")
            .in_body(),
        Route::answers::<subscription::settle::NakSubscription>("/v1/subscriptions/{name}/nak", "nakSubscription")
            .in_body(),
        Route::answers::<subscription::settle::ReleaseSubscription>("/v1/subscriptions/{name}/release", "releaseSubscription")
            .in_body(),
        Route::answers::<subscription::manage::ReplaySubscription>("/v1/subscriptions/{name}/replay", "replaySubscription")
            .in_body(),
        Route::answers::<subscription::manage::DeleteSubscription>("/v1/subscriptions/{name}/delete", "deleteSubscription")
            .in_body(),
        // Scripted projections
        Route::answers::<scripted::read::ListProjections>("/v1/projections", "listProjections"),
        Route::answers::<scripted::read::ShowProjection>("/v1/projections/{name}", "getProjection"),
        // Verification and integrity
        Route::answers::<integrity::verify::VerifyLast>("/v1/verify", "getVerification")
            .of_now(),
        Route::answers::<integrity::verify::VerifyStart>("/v1/verify", "startVerification")
            .in_body(),
        Route::answers::<integrity::doctor::DoctorLast>("/v1/doctor", "getExamination")
            .of_now(),
        Route::answers::<integrity::doctor::DoctorStart>("/v1/doctor", "startExamination")
            .in_body(),
        Route::answers::<receipt::head::ReadHead>("/v1/head", "getHead"),
        Route::answers::<receipt::check::CheckReceipt>("/v1/receipts/check", "checkReceipt")
            .in_body(),
        Route::answers::<lifecycle::storage::ReadStorage>("/v1/storage", "getStorage").of_now(),
        // Page sessions
        Route::replies::<_, page_session::NewPageSession>(Method::Post, page_session::TRADES_A_CODE, "openSession", page_session::open)
            .doc("Trade a one-time code, sent instead of a token, for a page session")
            .status(201)
            .of_no_team(),
        Route::replies::<_, page_session::PageSessionAnswer>(Method::Get, "/v1/session", "getSession", page_session::show)
            .doc("Show team, scope and expiry of the request's token or page session")
            .of_no_team(),
        Route::replies::<_, page_session::Ended>(Method::Post, "/v1/session/end", "endSession", page_session::end)
            .doc("End the page session of the request")
            .of_no_team(),
        Route::replies::<_, root::RootTeams>(Method::Get, "/v1/root/teams", "listRootTeams", root::teams)
            .doc("List all served teams, damaged ones first; needs the root's token or a page session for all teams")
            .of_no_team(),
        Route::answers::<lifecycle::machines::Machines>("/v1/machines", "listMachines"),
        Route::answers::<mode::explain::ModeExplain>("/v1/modes/explain", "explainMode"),
        Route::answers::<bootstrap::list::BootstrapList>("/v1/bootstrap", "listRuns").page(1_000),
        Route::reads("/v1/bootstrap/{run}", "getRun", runs::show).like::<bootstrap::show::BootstrapShow>(),
        // Operations
        Route::records::<_, operations::Answer>(operations::PATTERN, "callOperation", operations::call)
            .doc("Execute an operation of the team API; the answer is its envelope"),
        Route::replies::<_, Map<String, Value>>(Method::Get, "/v1/openapi.json", "getDocument", openapi::serve)
            .doc("The OpenAPI document of this server")
            .of_no_team(),
    ]
});

/// Result of searching for a route.
pub enum RouteLookup {
    Route(&'static Route, Vec<(&'static str, String)>),
    OtherMethods(Vec<Method>),
    Nothing,
}

/// Finds the route of a method and a path.
pub fn find(method: Method, path: &[String]) -> RouteLookup {
    for route in ROUTES.iter().filter(|route| route.method == method) {
        if let Some(parameters) = route.fits(path) {
            return RouteLookup::Route(route, parameters);
        }
    }
    match methods(path) {
        methods if methods.is_empty() => RouteLookup::Nothing,
        methods => RouteLookup::OtherMethods(methods),
    }
}

/// Returns the methods that a path supports.
pub fn methods(path: &[String]) -> Vec<Method> {
    let fitting = ROUTES.iter().filter(|route| route.fits(path).is_some());
    let mut methods: Vec<Method> = fitting.map(|route| route.method).collect();
    methods.sort_unstable();
    methods.dedup();
    methods
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_parameter_is_a_required_field_and_every_id_is_new() {
        let mut ids = BTreeSet::new();
        for route in ROUTES.iter() {
            assert!(ids.insert(route.id), "{}", route.id);
            assert!(
                !route.doc.is_empty() && !route.doc.ends_with('.'),
                "{}",
                route.id
            );
            for name in route.parameters() {
                let field = route.shape.field(name);
                assert!(
                    field.is_some_and(|field| field.required),
                    "{} {name}",
                    route.id
                );
            }
        }
    }

    #[test]
    fn no_route_hides_behind_an_earlier_one() {
        for route in ROUTES.iter() {
            let path: Vec<String> = route.pattern.split('/').skip(1).map(String::from).collect();
            match find(route.method, &path) {
                RouteLookup::Route(found, _) => assert!(std::ptr::eq(found, route)),
                _ => panic!("{} leads nowhere", route.pattern),
            }
        }
    }
}
