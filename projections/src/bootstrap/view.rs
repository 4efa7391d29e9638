//! `bootstrap/<run>.json`: a run of the bootstrap contract, with its checklist and its evidence.

use crate::bootstrap::{self, Run, RunShown};
use crate::files::{Home, ViewUpdate, Walk, record};
use crate::prelude::*;

pub(crate) const DIR: &str = "bootstrap";

/// Returns the name of a run's file; the id was checked when its event was decoded.
fn file_name(run: &str) -> String {
    format!("{run}.json")
}

fn text(run: &Run) -> Vec<u8> {
    record(RunShown::from(run))
}

/// Writes the files of the runs that events changed.
pub(crate) fn write(
    live: &TeamState,
    home: &Home,
    touched: &BTreeSet<String>,
) -> Result<ViewUpdate> {
    if !home.exists(DIR)? {
        return Walk::mend(home, |to| walk(live, to));
    }
    let mut written = 0;
    for id in touched {
        if let Some(run) = live.bootstrap_run(id)? {
            let path = home.path(DIR).join(file_name(id));
            home.replace(&path, &text(&run))?;
            written += 1;
        }
    }
    Ok(ViewUpdate::written(written))
}

pub(crate) fn walk(live: &TeamState, to: &mut Walk<'_>) -> Result<()> {
    for run in bootstrap::all(live.rows()) {
        let run = run?;
        to.file(DIR, &file_name(&run.run), &text(&run))?;
    }
    to.end(DIR)
}
