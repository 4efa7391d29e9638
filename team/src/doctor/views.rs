//! The view files, byte for byte, against the state folded from the log.

use super::scene::{Scene, is_closed, keeps_views};
use super::{Check, Health};
use crate::projections::views::ViewsSource;
use serde_json::{Value, json};

const NAME: &str = "views";

pub(super) fn check(scene: &Scene<'_>) -> Check {
    let (log, reader, live) = match (&scene.log, &scene.reader, &scene.fresh) {
        (Ok(log), Ok(reader), Ok(live)) => (log, reader, live),
        (Err(why), _, _) | (_, Err(why), _) | (_, _, Err(why)) => {
            return Check::not_made(NAME, why);
        }
    };
    if !keeps_views(live) && !is_closed(live) {
        return Check::healthy(NAME, "the team keeps no view files");
    }
    let found = match ViewsSource::new(log).against(live, reader) {
        Ok(found) => found,
        // A directory in the place of a file, or the other way round: writers leave it alone, and fall behind.
        Err(error) => {
            let why = format!("{error}; move away what stands there, then write the views anew");
            return Check::new(NAME, Health::Unhealthy, why).recommend(scene.rehydrate());
        }
    };
    let wrong = found.faults.len() as u64 + found.omitted;
    let files: Vec<Value> = found
        .faults
        .iter()
        .map(|fault| json!({"file": fault.file, "what": fault.what}))
        .collect();
    let check = match found.faults.first() {
        None if is_closed(live) => {
            Check::healthy(NAME, "the team was closed and has no view files")
        }
        None => Check::healthy(
            NAME,
            format!("{} files are what the state says", found.files),
        ),
        Some(first) => {
            let (health, why) = match scene.cursor {
                Ok(Some(seq)) if seq == live.seq() => (Health::Unhealthy, String::new()),
                // A crash between the log and its views: the next writer catches up.
                Ok(Some(seq)) => (
                    Health::Warn,
                    format!(" since event {seq}, where a crash left them"),
                ),
                _ => (
                    Health::Warn,
                    " and no cursor says that they are current".to_owned(),
                ),
            };
            let summary = format!(
                "{wrong} files are not what the state says{why}: {} {}",
                first.file,
                match first.what {
                    "missing" => "is missing",
                    "unknown" => "is no view",
                    _ => "differs",
                }
            );
            Check::new(NAME, health, summary).recommend(scene.rehydrate())
        }
    };
    check
        .detail("files", found.files)
        .detail("wrong", wrong)
        .detail("faults", files)
}
