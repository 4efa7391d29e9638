//! Renders durable subscriptions.

use crate::render::prelude::*;
use teamlog_team::subscription::SubscriptionFilter;
use teamlog_team::subscription::manage::{
    FailingEvent, ParkedShown, SubscriptionAnswer, SubscriptionDeleted, SubscriptionListAnswer,
    SubscriptionShown,
};
use teamlog_team::subscription::runner::SubscriptionRunner;

/// Renders all subscriptions of a team, one per line.
pub fn list(answer: &SubscriptionListAnswer, view: &View) -> Vec<String> {
    let count = time::plural(answer.count as u64, "subscription");
    let mut shown = vec![heading(view, &answer.team, &format!(": {count}"))];
    let rows = answer.subscriptions.iter().map(|one| row(one, view));
    push_below(&mut shown, lines(rows, 2, view));
    for one in &answer.subscriptions {
        shown.extend(refused(one));
        if let Some(error) = one.run_by.as_ref().and_then(last_error) {
            shown.push(format!("  {}: {error}", visible(&one.name)));
        }
    }
    for name in &answer.damaged {
        shown.push(format!("  {}  the file is damaged", visible(name)));
    }
    shown
}

fn row(one: &SubscriptionShown, view: &View) -> Vec<Cell> {
    let parked = match one.parked_count {
        0 => plain(""),
        parked => styled(Style::Bad, format!("{parked} parked")),
    };
    vec![
        plain(&one.name),
        plain(format!("at {}", one.position)),
        plain(format!("{} later events", one.behind)),
        parked,
        plain(consumer(one, view)),
        styled(Style::Dim, filter(&one.filter)),
    ]
}

fn consumer(one: &SubscriptionShown, view: &View) -> String {
    match (&one.consumer, one.leased_until) {
        (Some(consumer), Some(until)) => {
            let left = time::span(until.micros() - view.now.micros());
            format!("{consumer}, lease {left} left")
        }
        _ => "no consumer".to_owned(),
    }
}

/// Renders the reason why a subscription does not fit the log.
fn refused(one: &SubscriptionShown) -> Option<String> {
    let why = one.refused.as_deref()?;
    Some(format!("  refused: {}", visible(why)))
}

/// Renders the error of the daemon that runs a subscription, if the last delivery failed.
fn last_error(runner: &SubscriptionRunner) -> Option<String> {
    let error = runner.last_error.as_ref()?;
    let (target, error) = (visible(&runner.target), visible(error));
    Some(format!("last error of {target}: {error}"))
}

fn filter(filter: &SubscriptionFilter) -> String {
    let parts = [
        ("kind", &filter.kind),
        ("task", &filter.task_id),
        ("about", &filter.agent),
        ("trace", &filter.trace_id),
        ("by", &filter.actor),
        ("type", &filter.message_type),
        ("not", &filter.not),
    ];
    let parts = parts.into_iter().filter_map(|(name, value)| {
        let value = value.as_deref()?;
        Some(format!("{name} {value}"))
    });
    let tags = filter.tag.iter().map(|tag| format!("tag {tag}"));
    let parts: Vec<String> = parts.chain(tags).collect();
    match parts.is_empty() {
        true => "all events".to_owned(),
        false => parts.join(", "),
    }
}

/// Renders one subscription with its failing and parked events.
pub fn one(answer: &SubscriptionAnswer, view: &View) -> Vec<String> {
    let one = &answer.subscription;
    let rest = format!(" of {}: {}", answer.team, filter(&one.filter));
    let mut shown = vec![heading(view, &one.name, &rest)];
    shown.push(format!(
        "  position {} of {}, {} later events, window {}, {}",
        one.position,
        one.last_seq,
        one.behind,
        one.window,
        time::plural(one.max_attempts.into(), "attempt")
    ));
    shown.extend(refused(one));
    shown.push(format!("  {}", visible(&consumer(one, view))));
    if let Some(runner) = &one.run_by {
        let (pid, target) = (runner.pid, visible(&runner.target));
        shown.push(format!("  run by the daemon {pid}: {target}"));
        shown.extend(last_error(runner).map(|error| format!("  {error}")));
    }
    push_below(
        &mut shown,
        lines(
            answer.failing.iter().map(|event| failing(event, view)),
            2,
            view,
        ),
    );
    push_below(
        &mut shown,
        lines(
            answer.parked.iter().map(|event| parked(event, view)),
            2,
            view,
        ),
    );
    shown
}

fn failing(event: &FailingEvent, view: &View) -> Vec<Cell> {
    let left = event.next_at.micros() - view.now.micros();
    let next = match left {
        1.. => format!("again in {}", time::span(left)),
        _ => "due".to_owned(),
    };
    vec![
        plain(format!("event {}", event.seq)),
        styled(Style::Warn, format!("{} failed", event.attempts)),
        plain(next),
        plain(&event.error),
    ]
}

fn parked(event: &ParkedShown, view: &View) -> Vec<Cell> {
    let state = match event.replaying {
        true => styled(Style::Warn, "replay"),
        false => styled(Style::Bad, "parked"),
    };
    vec![
        plain(format!("event {}", event.seq)),
        state,
        styled(Style::Dim, view.ago(event.parked_at)),
        plain(&event.error),
    ]
}

/// Renders the parked events that wait for their replay.
pub fn replayed(answer: &SubscriptionAnswer, _: &View) -> Vec<String> {
    let waiting = answer.parked.iter().filter(|event| event.replaying);
    let count = time::plural(waiting.count() as u64, "parked event");
    let name = visible(&answer.subscription.name);
    vec![format!("{count} of {name} will be delivered again")]
}

/// Renders the name of a deleted subscription.
pub fn deleted(answer: &SubscriptionDeleted, _: &View) -> Vec<String> {
    let SubscriptionDeleted { team, name } = answer;
    let (team, name) = (visible(team), visible(name));
    vec![format!("deleted subscription {name} of {team}")]
}
