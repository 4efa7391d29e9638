//! Check `backups`: finds the backup with the events that were damaged or lost in a salvage. The check searches the backup
//! directories in the team's notes, and the directories that the caller named.

use super::*;
use crate::backup::dir::BackupDir;
use crate::shell::quoted;
use teamlog_engine::backup::Backup;
use teamlog_engine::internals::layout::SALVAGED;
use teamlog_engine::repair::Lost;
use teamlog_engine::verify::Severity;

/// A backup of one log of the team.
struct KnownBackup {
    directory: PathBuf,
    backup: Backup,
}

/// Events that a log has lost.
#[derive(Default)]
struct Loss {
    /// Id of the log; `None` if the id cannot be read.
    log: Option<String>,
    /// Seq of the first unreadable event.
    seq: Option<u64>,
    /// True if the readable part of the log has been salvaged.
    salvaged: bool,
}

pub(super) fn check(seen: &Observations<'_>) -> Observation<Check> {
    let (known, unusable) = known(seen);
    let check = match loss(seen) {
        Ok(None) => none_needed(&known),
        Ok(Some(loss)) => needed(seen, &known, &loss),
        Err(why) => Check::not_made(&why),
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
    Ok(check.details(json!({"known": listed, "unusable": unusable})))
}

/// Returns the backups in all known directories. Also returns the directories without a readable backup, each with the reason.
fn known(seen: &Observations<'_>) -> (Vec<KnownBackup>, Vec<String>) {
    let (mut known, mut unusable) = (Vec::new(), Vec::new());
    for directory in seen.backup_directories() {
        let options = seen.root.options().clone();
        let opened = BackupDir::open(&directory, options)
            .and_then(|backup_dir| backup_dir.backups(&seen.check.team));
        match opened {
            Ok(backups) if backups.is_empty() => {
                unusable.push(format!("{}: there is none", directory.display()));
            }
            Ok(backups) => known.extend(backups.into_iter().map(|backup| KnownBackup {
                directory: directory.clone(),
                backup,
            })),
            Err(failure) => unusable.push(format!("{}: {failure}", directory.display())),
        }
    }
    (known, unusable)
}

fn loss(seen: &Observations<'_>) -> Observation<Option<Loss>> {
    let Ok(log) = &seen.log else {
        // The identity of the log cannot be read.
        return Ok(Some(Loss::default()));
    };
    let report = borrowed(&seen.report)?;
    if !report.ok {
        let errors = report.problems.iter();
        let errors = errors.filter(|problem| problem.severity == Severity::Error);
        return Ok(Some(Loss {
            log: Some(log.identity().log.to_string()),
            seq: errors.filter_map(|problem| problem.seq).min(),
            salvaged: false,
        }));
    }
    match log.identity().origin == "salvage" && seen.sampled.is_none() {
        true => salvaged(borrowed(&seen.reader)?).map_err(error_text),
        false => Ok(None),
    }
}

/// Returns the events that the last salvage could not read.
fn salvaged(reader: &Reader) -> Result<Option<Loss>, Error> {
    #[derive(serde::Deserialize)]
    struct SalvagedPayload {
        log: String,
        lost: Vec<Lost>,
    }
    let mut last = None;
    for event in reader.events(None) {
        let (_, _, event) = event?;
        if event.kind == SALVAGED
            && !event.foreign
            && let Ok(payload) = serde_json::from_str::<SalvagedPayload>(&event.payload)
        {
            last = Some(payload);
        }
    }
    let first =
        |payload: &SalvagedPayload| payload.lost.iter().filter_map(|lost| lost.from_seq).min();
    Ok(last.and_then(|payload| {
        first(&payload).map(|seq| Loss {
            seq: Some(seq),
            log: Some(payload.log),
            salvaged: true,
        })
    }))
}

fn none_needed(known: &[KnownBackup]) -> Check {
    let newest = known
        .iter()
        .max_by_key(|known| known.backup.manifest().backed_up_at);
    Check::healthy(match newest {
        None => "none is known".to_owned(),
        Some(newest) => format!("the newest known backup: {}", place(newest)),
    })
}

/// Names the backup with the most lost events, and the command that restores this backup.
fn needed(seen: &Observations<'_>, known: &[KnownBackup], loss: &Loss) -> Check {
    let lost_log = loss.log.as_ref();
    let is_of_log =
        |known: &&KnownBackup| lost_log.is_none_or(|log| known.backup.manifest().log == *log);
    let mut of_log: Vec<&KnownBackup> = known.iter().filter(is_of_log).collect();
    of_log.sort_by_key(|known| std::cmp::Reverse(known.backup.manifest().seq));
    // Skips damaged backups. Only this code verifies backups, because verifying reads the whole backup.
    let whole = |known: &&&KnownBackup| known.backup.verify().is_ok_and(|report| report.ok);
    let best = of_log.iter().find(whole).copied();
    let what = match (loss.seq, loss.salvaged) {
        (Some(seq), true) => format!("the salvaged log had lost event {seq}"),
        (Some(seq), false) => format!("event {seq} is damaged or missing"),
        (None, _) => "the log is damaged".to_owned(),
    };
    let holds = |best: &&KnownBackup| loss.seq.is_none_or(|seq| best.backup.manifest().seq >= seq);
    let Some(best) = best.filter(holds) else {
        let none = "no known backup has it";
        let but = match (known.is_empty(), best) {
            (true, _) => "no backup is known".to_owned(),
            (false, None) => none.to_owned(),
            (false, Some(best)) => format!("{none}; the latest: {}", place(best)),
        };
        let health = match known.is_empty() || loss.salvaged {
            true => Health::Healthy,
            false => Health::Warn,
        };
        return Check::new(health, format!("{what}; {but}"));
    };
    let restore = restore(seen, best);
    let summary = format!("{what}; a backup has it: {}", place(best));
    let check = match loss.salvaged {
        // The log is undamaged, so restoring is optional.
        true => Check::healthy(format!(
            "{summary}; to restore it beside the team: {restore}"
        )),
        false => Check::warn(summary).recommend(restore),
    };
    let (directory, manifest) = (best.directory.to_string_lossy(), best.backup.manifest());
    check.details(json!({"directory": directory, "log": manifest.log, "seq": manifest.seq}))
}

fn place(known: &KnownBackup) -> String {
    let manifest = known.backup.manifest();
    let (log, seq, made) = (&manifest.log, manifest.seq, manifest.backed_up_at);
    format!(
        "{} has log {log} up to event {seq}, as of {made}",
        known.directory.display()
    )
}

/// Returns the command that restores the backup as another team.
fn restore(seen: &Observations<'_>, known: &KnownBackup) -> String {
    let (team, log) = (&seen.check.team, &known.backup.manifest().log);
    let free = |name: &String| !matches!(seen.root.storage().stat(&team_dir(name)), Ok(Some(_)));
    let numbered = (2..100).map(|number| format!("{team}-restored-{number}"));
    let plain = format!("{team}-restored");
    let mut names = std::iter::once(plain.clone()).chain(numbered);
    let name = names.find(free).unwrap_or(plain);
    let (program, dir) = (
        &seen.check.program,
        quoted(&known.directory.to_string_lossy()),
    );
    format!("{program} restore {dir} {name} --from {team} --log {log}")
}
