//! `bootstrap/<run>.json`: a run of the bootstrap contract, with its checklist and its evidence.

use crate::bootstrap::{self, Run, RunShown};
use crate::files::{Home, Mended, Walk, pretty};
use crate::prelude::*;

pub(crate) const DIR: &str = "bootstrap";

#[derive(Serialize)]
struct Record {
    schema_version: u32,
    #[serde(rename = "schemaVersion")]
    schema_version_text: &'static str,
    #[serde(flatten)]
    run: RunShown,
}

/// The file of a run; its id was checked when its event was decoded.
fn file_name(run: &str) -> String {
    format!("{run}.json")
}

/// The content of a run's file.
fn text(run: &Run) -> Vec<u8> {
    pretty(&Record {
        schema_version: 1,
        schema_version_text: "1.0.0",
        run: RunShown::from(run),
    })
}

/// Writes the files of the runs that some events touched.
pub(crate) fn write(live: &TeamState, home: &Home, touched: &BTreeSet<String>) -> Result<Mended> {
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
    Ok(Mended::written(written))
}

/// Goes over all of `bootstrap/`.
pub(crate) fn walk(live: &TeamState, to: &mut Walk<'_>) -> Result<()> {
    for run in bootstrap::all(live.rows()) {
        let run = run?;
        to.file(DIR, &file_name(&run.run), &text(&run))?;
    }
    to.end(DIR)
}
