//! The table of routes, and how a path finds its row.

use super::endpoint::Route;
use super::{
    attention, deliveries, document, events, inbox, operations, page_session, paths, root, runs,
    tasks, teams, threads, usage,
};
use crate::call::Method;
use serde_json::{Map, Value};
use std::sync::LazyLock;
use teamlog_team::attention::Attention;
use teamlog_team::bootstrap::list::BootstrapList;
use teamlog_team::bootstrap::show::BootstrapShow;
use teamlog_team::integrity::doctor::{DoctorLast, DoctorStart};
use teamlog_team::integrity::verify::{VerifyLast, VerifyStart};
use teamlog_team::lifecycle::machines::Machines;
use teamlog_team::lifecycle::read_team::ReadTeam;
use teamlog_team::lifecycle::status::Status;
use teamlog_team::log::events::Events;
use teamlog_team::log::head::ReadHead;
use teamlog_team::log::points::ReadDiff;
use teamlog_team::log::storage::ReadStorage;
use teamlog_team::log::trace::Trace;
use teamlog_team::log::traces::Traces;
use teamlog_team::message::dead_letter::{DeadLetterList, DeadLetterRequeue, RequeueAnswer};
use teamlog_team::message::deliveries::DeliveryList;
use teamlog_team::message::inbox_feed::InboxFeed;
use teamlog_team::message::read::Read;
use teamlog_team::mode::explain::ModeExplain;
use teamlog_team::mode::show::ModeList;
use teamlog_team::receipt::check::CheckReceipt;
use teamlog_team::resource::can_write::CanWrite;
use teamlog_team::task::claim::TaskClaim;
use teamlog_team::task::create::TaskCreate;
use teamlog_team::task::history::TaskHistory;
use teamlog_team::task::read::{ListTasks, ReadTask};
use teamlog_team::task::ready::Ready;
use teamlog_team::task::renew::TaskRenew;
use teamlog_team::thread::link::ThreadLink;
use teamlog_team::thread::list::ThreadList;
use teamlog_team::thread::post::{ThreadPost, ThreadPostAnswer};
use teamlog_team::thread::search::ThreadSearch;
use teamlog_team::thread::start::{ThreadAnswer, ThreadStart};
use teamlog_team::thread::tail::ThreadTail;
use teamlog_team::usage::report::{ReportUsage, TOKENS_MAX, Usage};
use teamlog_team::usage::series::UsageSeries;
use teamlog_team::worker::who::Who;

/// Every route, in the order in which they are documented. Where two patterns fit a path, the first counts.
pub static ROUTES: LazyLock<Vec<Route>> = LazyLock::new(|| {
    vec![
        // the team
        Route::reads("/v1/teams", "listTeams", teams::list)
            .of::<ReadTeam>()
            .doc("The team of the token, in a list"),
        Route::records::<_, teams::OneTeam>("/v1/teams", "setUpTeam", teams::set_up)
            .doc("Say who is in the team of the token, and how many tokens it may use")
            .operates()
            .status(201),
        Route::reads("/v1/teams/{team}", "getTeam", teams::show).of::<ReadTeam>(),
        Route::reads("/v1/status", "getStatus", |asked: Status, team, _| Ok(team.status(asked)?))
            .of::<Status>(),
        Route::reads("/v1/who", "getWho", |asked: Who, team, _| Ok(team.who(&asked)?)).of::<Who>(),
        Route::reads("/v1/attention", "listAttention", attention::list)
            .of::<Attention>(),
        // tasks
        Route::reads("/v1/tasks", "listTasks", tasks::list)
            .of::<ListTasks>()
            .page(1_000),
        Route::records::<_, tasks::OneTask>("/v1/tasks", "createTask", tasks::create)
            .of::<TaskCreate>()
            .status(201),
        Route::reads("/v1/tasks/{taskId}", "getTask", tasks::show).of::<ReadTask>(),
        Route::reads("/v1/tasks/{taskId}/history", "getTaskHistory", |asked: TaskHistory, team, _| {
            Ok(team.task_history(&asked)?)
        })
            .of::<TaskHistory>()
            .page(1_000),
        Route::reads("/v1/ready", "listReady", |asked: Ready, team, _| Ok(team.ready(&asked)?))
            .of::<Ready>()
            .page(1_000),
        Route::records::<_, tasks::Leased>("/v1/tasks/{taskId}/claim", "claimTask", tasks::claim)
            .of::<TaskClaim>(),
        Route::records::<_, tasks::Leased>("/v1/tasks/{taskId}/renew", "renewTask", tasks::renew)
            .of::<TaskRenew>()
            .codes(tasks::HOLDING),
        Route::records::<_, tasks::OneTask>("/v1/tasks/{taskId}/complete", "completeTask", tasks::complete)
            .doc("Complete a claimed task, which frees those that waited for it")
            .codes(tasks::HOLDING),
        Route::records::<_, tasks::OneTask>("/v1/tasks/{taskId}/fail", "failTask", tasks::fail)
            .doc("Fail a claimed task")
            .codes(tasks::HOLDING),
        Route::reads("/v1/can-write", "canWrite", paths::can_write)
            .of::<CanWrite>()
            .of_now(),
        // threads, and what agents are told
        Route::records::<_, ThreadAnswer>("/v1/threads", "startThread", threads::start)
            .of::<ThreadStart>()
            .status(201),
        Route::reads("/v1/threads", "listThreads", |asked: ThreadList, team, _| Ok(team.threads(&asked)?))
            .of::<ThreadList>()
            .page(200),
        Route::reads("/v1/threads/search", "searchThreads", threads::search)
            .of::<ThreadSearch>()
            .page(200),
        Route::records::<_, ThreadPostAnswer>("/v1/threads/{threadId}/messages", "postMessage", threads::post)
            .of::<ThreadPost>()
            .status(201),
        Route::reads("/v1/threads/{threadId}/messages", "listMessages", threads::messages)
            .of::<ThreadTail>(),
        Route::reads("/v1/threads/{threadId}/tail", "tailThread", threads::tail).of::<ThreadTail>(),
        Route::records::<_, ThreadAnswer>("/v1/threads/{threadId}/link", "linkThread", threads::link)
            .of::<ThreadLink>(),
        Route::reads("/v1/inbox", "readInbox", inbox::inbox)
            .of::<InboxFeed>()
            .page(1_000),
        Route::reads("/v1/mailbox", "readMailbox", |asked: Read, team, _| Ok(team.read(asked)?))
            .of::<Read>(),
        Route::reads("/v1/deliveries", "listDeliveries", |asked: DeliveryList, team, _| {
            Ok(team.open_deliveries(&asked)?)
        })
            .of::<DeliveryList>()
            .page(1_000),
        Route::reads("/v1/dead-letters", "listDeadLetters", |asked: DeadLetterList, team, _| {
            Ok(team.dead_letters(asked)?)
        })
            .of::<DeadLetterList>()
            .page(1_000),
        Route::records::<_, RequeueAnswer>("/v1/dead-letters/{messageId}/requeue", "requeueDeadLetter", deliveries::requeue)
            .of::<DeadLetterRequeue>(),
        // what it costs
        Route::reads("/v1/usage", "getUsage", usage::show)
            .of::<Usage>()
            .page(1_000),
        Route::reads("/v1/usage/series", "getUsageSeries", |asked: UsageSeries, team, _| {
            Ok(team.usage_series(&asked)?)
        })
            .of::<UsageSeries>(),
        Route::records::<_, usage::Body>("/v1/usage", "reportUsage", usage::report)
            .of::<ReportUsage>()
            .bounded("inputTokens", "maximum", TOKENS_MAX)
            .bounded("outputTokens", "maximum", TOKENS_MAX)
            .bounded("tokens", "maximum", TOKENS_MAX),
        // what happened, and what goes on
        Route::reads("/v1/events", "listEvents", events::events)
            .of::<Events>()
            .doc("The events of the log behind a seq; with `Accept: text/event-stream` they go on as they are recorded, \
                without `after` from now on")
            .streams(),
        Route::reads("/v1/trace/{traceId}", "getTrace", events::trace)
            .of::<Trace>()
            .bounded("limit", "default", events::TRACE_EVENTS),
        Route::reads("/v1/traces", "listTraces", |asked: Traces, team, _| Ok(team.traces(&asked)?))
            .of::<Traces>(),
        Route::reads("/v1/diff", "getDiff", |asked: ReadDiff, team, _| Ok(asked.answer(team)?))
            .of::<ReadDiff>()
            .page(1_000),
        Route::reads("/v1/modes", "listModes", |asked: ModeList, team, _| Ok(team.mode_list(asked)?))
            .of::<ModeList>()
            .page(1_000),
        // is it as it was written
        Route::reads("/v1/verify", "getVerification", |asked: VerifyLast, team, _| Ok(team.verify_last(asked)?))
            .of::<VerifyLast>()
            .of_now(),
        Route::asks("/v1/verify", "startVerification", |asked: VerifyStart, team, _| Ok(team.verify_start(asked)?))
            .of::<VerifyStart>(),
        Route::reads("/v1/doctor", "getExamination", |asked: DoctorLast, team, _| Ok(team.doctor_last(asked)?))
            .of::<DoctorLast>()
            .of_now(),
        Route::asks("/v1/doctor", "startExamination", |asked: DoctorStart, team, _| Ok(team.doctor_start(asked)?))
            .of::<DoctorStart>(),
        Route::reads("/v1/head", "getHead", |asked: ReadHead, team, _| Ok(team.read_head(asked)?))
            .of::<ReadHead>(),
        Route::asks("/v1/receipts/check", "checkReceipt", |asked: CheckReceipt, team, _| Ok(team.check_receipt(asked)?))
            .of::<CheckReceipt>(),
        Route::reads("/v1/storage", "getStorage", |asked: ReadStorage, team, _| Ok(team.read_storage(asked)?))
            .of::<ReadStorage>()
            .of_now(),
        // who asks
        Route::replies::<_, page_session::Opened>(Method::Post, page_session::TRADES_A_CODE, "openSession", page_session::open)
            .doc("Trade a one-time code, which stands in the place of the token, for a page session")
            .status(201)
            .of_no_team(),
        Route::replies::<_, page_session::Shown>(Method::Get, "/v1/session", "getSession", page_session::show)
            .doc("What the page session or the token of the request is for")
            .of_no_team(),
        Route::replies::<_, page_session::Ended>(Method::Post, "/v1/session/end", "endSession", page_session::end)
            .doc("End the page session of the request")
            .of_no_team(),
        Route::replies::<_, root::RootTeams>(Method::Get, "/v1/root/teams", "listRootTeams", root::teams)
            .doc("All teams that are served, damaged ones first; for the token of the root, or a page session of all teams")
            .of_no_team(),
        Route::reads("/v1/machines", "listMachines", |_: Machines, team, _| Ok(team.machines())).of::<Machines>(),
        Route::reads("/v1/modes/explain", "explainMode", |asked: ModeExplain, team, _| {
            Ok(team.mode_explain(asked)?)
        })
        .of::<ModeExplain>(),
        Route::reads("/v1/bootstrap", "listRuns", |asked: BootstrapList, team, _| {
            Ok(team.bootstrap_list(asked)?)
        })
        .of::<BootstrapList>()
        .page(1_000),
        Route::reads("/v1/bootstrap/{run}", "getRun", runs::show).of::<BootstrapShow>(),
        // everything else
        Route::records::<_, operations::Answer>(operations::PATTERN, "callOperation", operations::call)
            .doc("Carry out an operation of the mutation contract, whose envelope is the answer"),
        Route::replies::<_, Map<String, Value>>(
            Method::Get,
            "/v1/openapi.json",
            "getDocument",
            document::document,
        )
            .doc("The OpenAPI document of this server")
            .of_no_team(),
    ]
});

/// What a method and a path lead to.
pub enum Found {
    Route(&'static Route, Vec<(&'static str, String)>),
    OtherMethods(Vec<Method>),
    Nothing,
}

/// The route of a method and a path.
pub fn find(method: Method, path: &[String]) -> Found {
    for route in ROUTES.iter().filter(|route| route.method == method) {
        if let Some(parameters) = route.fits(path) {
            return Found::Route(route, parameters);
        }
    }
    match methods(path) {
        methods if methods.is_empty() => Found::Nothing,
        methods => Found::OtherMethods(methods),
    }
}

/// The methods that a path takes.
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
                Found::Route(found, _) => assert!(std::ptr::eq(found, route)),
                _ => panic!("{} leads nowhere", route.pattern),
            }
        }
    }
}
