//! The backups that are known, by the notes of earlier runs and by what the caller names: where the log is damaged, or was and
//! is salvaged, which of them holds what is lost?

use super::scene::Scene;
use super::{Check, Health};
use crate::backup::dir::BackupDir;
use crate::handle::root::team_dir;
use crate::shell::quoted;
use serde_json::json;
use std::path::PathBuf;
use teamlog_engine::backup::Backup;
use teamlog_engine::layout::SALVAGED;
use teamlog_engine::repair::Lost;
use teamlog_engine::verify::Severity;

const NAME: &str = "backups";

/// A backup of one log of the team.
struct Known {
    directory: PathBuf,
    backup: Backup,
}

/// What is lost of which log.
struct Loss {
    /// The log's id; `None` where nothing tells it.
    log: Option<String>,
    /// An event that cannot be read, the first one of them.
    seq: Option<u64>,
    /// Whether the rest was salvaged since.
    salvaged: bool,
}

pub(super) fn check(scene: &Scene<'_>) -> Check {
    let (known, unusable) = known(scene);
    let check = match loss(scene) {
        Ok(None) => none_needed(&known),
        Ok(Some(loss)) => needed(scene, &known, &loss),
        Err(why) => Check::not_made(NAME, &why),
    };
    let listed: Vec<_> = known
        .iter()
        .map(|known| {
            let manifest = known.backup.manifest();
            json!({
                "directory": known.directory,
                "log": manifest.log,
                "seq": manifest.seq,
                "backed_up_at": manifest.backed_up_at.to_string(),
            })
        })
        .collect();
    check.detail("known", listed).detail("unusable", unusable)
}

/// The backups in every directory that is known, and the directories where none can be read, with the reason.
fn known(scene: &Scene<'_>) -> (Vec<Known>, Vec<String>) {
    let (mut known, mut unusable) = (Vec::new(), Vec::new());
    for directory in scene.backup_directories() {
        let options = scene.root.options().clone();
        let opened = BackupDir::open(&directory, options)
            .and_then(|backup_dir| backup_dir.backups(scene.team()));
        match opened {
            Ok(backups) if backups.is_empty() => {
                unusable.push(format!("{}: there is none", directory.display()));
            }
            Ok(backups) => known.extend(backups.into_iter().map(|backup| Known {
                directory: directory.clone(),
                backup,
            })),
            Err(failure) => unusable.push(format!("{}: {failure}", directory.display())),
        }
    }
    (known, unusable)
}

fn loss(scene: &Scene<'_>) -> Result<Option<Loss>, String> {
    let (log, report) = match (&scene.log, &scene.report) {
        (Ok(log), Ok(report)) => (log, report),
        // Not even its identity can be read.
        (Err(_), _) => {
            return Ok(Some(Loss {
                log: None,
                seq: None,
                salvaged: false,
            }));
        }
        (_, Err(why)) => return Err(why.clone()),
    };
    if !report.ok {
        let errors = report.problems.iter();
        let errors = errors.filter(|problem| problem.severity == Severity::Error);
        return Ok(Some(Loss {
            log: Some(log.identity().log.to_string()),
            seq: errors.filter_map(|problem| problem.seq).min(),
            salvaged: false,
        }));
    }
    match log.identity().origin == "salvage" {
        true => salvaged(scene),
        false => Ok(None),
    }
}

/// What the last salvage could not take.
fn salvaged(scene: &Scene<'_>) -> Result<Option<Loss>, String> {
    #[derive(serde::Deserialize)]
    struct Told {
        log: String,
        lost: Vec<Lost>,
    }
    let reader = scene.reader.as_ref().map_err(Clone::clone)?;
    let mut last = None;
    for event in reader.events(None) {
        let (_, _, event) = event.map_err(|error| error.to_string())?;
        if event.kind == SALVAGED
            && !event.foreign
            && let Ok(told) = serde_json::from_str::<Told>(&event.payload)
        {
            last = Some(told);
        }
    }
    let first = |told: &Told| told.lost.iter().filter_map(|lost| lost.from_seq).min();
    Ok(last.and_then(|told| {
        first(&told).map(|seq| Loss {
            seq: Some(seq),
            log: Some(told.log),
            salvaged: true,
        })
    }))
}

fn none_needed(known: &[Known]) -> Check {
    let newest = known
        .iter()
        .max_by_key(|known| known.backup.manifest().backed_up_at);
    Check::healthy(
        NAME,
        match newest {
            None => "none is known".to_owned(),
            Some(newest) => format!("the newest that is known: {}", place(newest)),
        },
    )
}

/// Names the backup that holds most of what is lost, and how to get at it.
fn needed(scene: &Scene<'_>, known: &[Known], loss: &Loss) -> Check {
    let mut of_log: Vec<&Known> = known
        .iter()
        .filter(|known| {
            loss.log
                .as_ref()
                .is_none_or(|log| known.backup.manifest().log == *log)
        })
        .collect();
    of_log.sort_by_key(|known| std::cmp::Reverse(known.backup.manifest().seq));
    // Never one that is damaged itself; it reads them only now that one is needed.
    let whole = |known: &&&Known| known.backup.verify().is_ok_and(|report| report.ok);
    let best = of_log.iter().find(whole).copied();
    let what = match (loss.seq, loss.salvaged) {
        (Some(seq), true) => format!("the salvaged log had lost event {seq}"),
        (Some(seq), false) => format!("event {seq} is damaged or missing"),
        (None, _) => "the log is damaged".to_owned(),
    };
    let holds = |best: &&Known| loss.seq.is_none_or(|seq| best.backup.manifest().seq >= seq);
    let Some(best) = best.filter(holds) else {
        let (health, but) = match (known.is_empty(), best) {
            (true, _) => (Health::Healthy, "no backup is known".to_owned()),
            (false, None) => (Health::Warn, "no backup that is known holds it".to_owned()),
            (false, Some(best)) => {
                let but = format!(
                    "no backup that is known holds it; the one that goes furthest: {}",
                    place(best)
                );
                (Health::Warn, but)
            }
        };
        let health = if loss.salvaged {
            Health::Healthy
        } else {
            health
        };
        return Check::new(NAME, health, format!("{what}; {but}"));
    };
    let restore = restore(scene, best);
    let summary = format!("{what}; a backup holds it: {}", place(best));
    match loss.salvaged {
        // Whether that is still wanted nobody can know: the log is sound.
        true => Check::healthy(NAME, format!("{summary}; to look: {restore}")),
        false => Check::new(NAME, Health::Warn, summary).recommend(restore),
    }
    .detail("directory", best.directory.to_string_lossy())
    .detail("log", best.backup.manifest().log.as_str())
    .detail("seq", best.backup.manifest().seq)
}

fn place(known: &Known) -> String {
    let manifest = known.backup.manifest();
    format!(
        "{} has log {} up to event {}, as of {}",
        known.directory.display(),
        manifest.log,
        manifest.seq,
        manifest.backed_up_at
    )
}

/// The command that restores it beside the team, as it is typed.
fn restore(scene: &Scene<'_>, known: &Known) -> String {
    let (team, log) = (scene.team(), &known.backup.manifest().log);
    let free = |name: &String| !matches!(scene.root.storage().stat(&team_dir(name)), Ok(Some(_)));
    let numbered = (2..100).map(|number| format!("{team}-restored-{number}"));
    let name = std::iter::once(format!("{team}-restored"))
        .chain(numbered)
        .find(free)
        .unwrap_or_else(|| format!("{team}-restored"));
    format!(
        "{} restore {} {name} --from {team} --log {log}",
        scene.program(),
        quoted(&known.directory.to_string_lossy())
    )
}
