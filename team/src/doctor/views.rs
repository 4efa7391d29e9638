//! Check `views`: compares the view files byte by byte with the state that is folded from the log.

use super::*;

pub(super) fn check(seen: &Observations<'_>) -> Observation<Check> {
    let (log, reader, live) = (
        borrowed(&seen.log)?,
        borrowed(&seen.reader)?,
        borrowed(&seen.fresh)?,
    );
    if !keeps_views(live) && !is_closed(live) {
        return Ok(Check::healthy("the team keeps no view files"));
    }
    let sampled = seen.sampled.as_ref().and_then(|one| one.views.clone());
    let against = || ViewsSource::new(log).against(live, reader);
    let found = match sampled.map_or_else(against, Ok) {
        Ok(found) => found,
        // A path of a view file is a directory, or a path of a directory is a file. Writers do not replace such a path, so
        // the views are no longer updated.
        Err(error) => {
            let why = format!("{error}; move it away, then write the views anew");
            return Ok(Check::unhealthy(why).recommend(seen.rehydrate()));
        }
    };
    let wrong = found.faults.len() as u64 + found.omitted;
    let check = match found.faults.first() {
        None if is_closed(live) => Check::healthy("the team is closed and has no view files"),
        None => Check::healthy(format!("{} files agree with the state", found.files)),
        Some(first) => {
            let believed = ViewsSource::new(log)
                .current()
                .is_ok_and(|seq| seq.is_some());
            let (health, why) = match seen.cursor {
                Ok(Some(_)) if !believed => {
                    let why = " after a power loss or a copy of the directory; tick mends them";
                    (Health::Warn, why.to_owned())
                }
                Ok(Some(seq)) if seq == live.seq() => (Health::Unhealthy, String::new()),
                _ if seen.rollback.is_some() => {
                    let why = " because they have events that the log lost";
                    (Health::Warn, why.to_owned())
                }
                // A crash happened after events were appended to the log, and before the views of these events were written. The
                // next writer updates the views.
                Ok(Some(seq)) => {
                    let why = format!(" since a crash after event {seq}");
                    (Health::Warn, why)
                }
                _ => {
                    let why = " and their cursor is missing";
                    (Health::Warn, why.to_owned())
                }
            };
            let what = match first.what {
                "missing" => "is missing",
                "unknown" => "is not a view file",
                _ => "differs",
            };
            let file = &first.file;
            let summary = format!("{wrong} files differ from the state{why}: {file} {what}");
            Check::new(health, summary).recommend(seen.rehydrate())
        }
    };
    let faults = found.faults.iter();
    let faults: Vec<Value> = faults
        .map(|fault| json!({"file": fault.file, "what": fault.what}))
        .collect();
    Ok(check.details(json!({"files": found.files, "wrong": wrong, "faults": faults})))
}
