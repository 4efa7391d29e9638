//! Check `subscriptions`: subscriptions with a damaged file, with a position after the end of the log, or with parked events.

use super::*;
use crate::subscription::SubscriptionFiles;
use crate::subscription::runner::shown_runner;

pub(super) fn check(seen: &Observations<'_>) -> Observation<Check> {
    let files = SubscriptionFiles::below(seen.root.storage().as_ref(), &seen.dir);
    let names = files.names().map_err(error_text)?;
    // Another check reports a log that cannot be read.
    let reader = borrowed(&seen.reader).ok();
    let head = reader.map_or(u64::MAX, |reader| reader.head().last_seq);
    let now = seen.root.options().clock.now();
    let (mut damaged, mut ahead, mut parked) = (Vec::new(), Vec::new(), Vec::new());
    let (mut consumers, mut runners) = (BTreeMap::new(), BTreeMap::new());
    for name in &names {
        if let Ok(Some(state)) = files.read(name) {
            if let Some((consumer, _)) = state.holder(now) {
                consumers.insert(name.clone(), consumer.to_owned());
            }
            if let Some(runner) = shown_runner(&files, (name, &state), now) {
                runners.insert(name.clone(), runner);
            }
        }
        match files.read(name) {
            Err(Failure::Refused(_)) => damaged.push(name.clone()),
            Err(failed) => return Err(error_text(failed)),
            Ok(None) => {}
            Ok(Some(state)) if state.kept.position > head => ahead.push(name.clone()),
            Ok(Some(state)) if !state.kept.parked.is_empty() => parked.push(name.clone()),
            Ok(Some(_)) => {}
        }
    }
    let details = json!({
        "subscriptions": names.len(), "damaged": damaged, "ahead": ahead, "parked": parked,
        "consumers": consumers, "run_by": runners,
    });
    let running: Vec<String> = consumers
        .iter()
        .map(|(name, consumer)| match runners.get(name) {
            Some(runner) => format!("{name} by {consumer} ({})", runner.target),
            None => format!("{name} by {consumer}"),
        })
        .collect();
    let failing: Vec<String> = runners
        .iter()
        .filter_map(|(name, runner)| Some(format!("{name}: {}", runner.last_error.as_ref()?)))
        .collect();
    let useless = damaged.iter().chain(&ahead).map(String::as_str);
    let useless: Vec<&str> = useless.collect();
    let mut check = match (useless.as_slice(), parked.as_slice()) {
        ([], []) if !failing.is_empty() => Check::warn(format!(
            "the daemon's last delivery failed: {}",
            failing.join("; ")
        )),
        ([], []) if running.is_empty() => {
            Check::healthy(format!("every subscription can be read ({})", names.len()))
        }
        ([], []) => Check::healthy(format!("running: {}", running.join(", "))),
        ([], parked) => Check::warn(format!("parked events in {}", parked.join(", "))),
        _ if damaged.is_empty() => Check::unhealthy(format!(
            "the position is after the end of the log: {}",
            useless.join(", ")
        )),
        _ => Check::unhealthy(format!("the file is damaged: {}", damaged.join(", "))),
    };
    for name in useless {
        check = check.recommend(seen.command("subscription delete", name));
    }
    let without_parked = runners.iter().filter(|(name, _)| !parked.contains(name));
    for (name, _) in without_parked.filter(|(_, runner)| runner.last_error.is_some()) {
        check = check.recommend(seen.command("subscription show", name));
    }
    for name in &parked {
        check = check.recommend(seen.command("subscription show", name));
    }
    Ok(check.details(details))
}
