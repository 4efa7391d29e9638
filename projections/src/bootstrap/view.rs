//! `bootstrap/<run>.json`: a run of the bootstrap contract, with its checklist and its evidence.

use crate::bootstrap::{self, Run, RunShown};
use crate::prelude::*;
use crate::views::mend::{put, remove_others};
use crate::views::{Home, Mended, failed};

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
pub(crate) fn file_name(run: &str) -> String {
    format!("{run}.json")
}

/// The content of a run's file.
pub(crate) fn text(run: &Run) -> Vec<u8> {
    let record = Record {
        schema_version: 1,
        schema_version_text: "1.0.0",
        run: RunShown::from(run),
    };
    // Into memory nothing fails.
    let mut text = serde_json::to_vec_pretty(&record).unwrap_or_default();
    text.push(b'\n');
    text
}

/// Writes the files of the runs that some events touched.
pub(crate) fn write(live: &Live, home: &Home, touched: &BTreeSet<String>) -> Result<Mended> {
    if !home.exists(DIR)? {
        return mend(live, home);
    }
    let mut mended = Mended::default();
    for id in touched {
        if let Some(run) = live.bootstrap_run(id)? {
            let path = home.path(DIR).join(file_name(id));
            home.replace(&path, &text(&run))?;
            mended.written += 1;
        }
    }
    Ok(mended)
}

/// Brings `bootstrap/` in line with the state.
pub(crate) fn mend(live: &Live, home: &Home) -> Result<Mended> {
    let mut mended = Mended::default();
    let mut runs = bootstrap::all(live.rows()).peekable();
    if runs.peek().is_none() && !home.exists(DIR)? {
        return Ok(mended);
    }
    let dir = home.path(DIR);
    home.storage
        .create_dir(&dir)
        .map_err(failed("create", &dir))?;
    let mut names = BTreeSet::new();
    for run in runs {
        let run = run?;
        let name = file_name(&run.run);
        mended.add(Mended::one(put(home, &dir.join(&name), &text(&run))?));
        names.insert(name);
    }
    mended.removed += remove_others(home, DIR, &names)?;
    Ok(mended)
}
