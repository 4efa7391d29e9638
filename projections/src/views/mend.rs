//! Updates all views to the state: writes only files that differ, and removes files without a source.

use crate::files::{Home, ViewUpdate, Walk, failed};
use crate::message::view::Inboxes;
use crate::prelude::*;
use crate::task::Task;
use crate::{bootstrap, delivery, message, mode, task, team, worker};
use crossbeam_channel::{Receiver, bounded};
use std::io::ErrorKind;
use std::ops::ControlFlow;
use std::thread;
use teamlog_engine::storage::OpenMode;

pub(crate) const TEAM: &str = "team.json";
/// Directories of views.
pub(crate) const VIEW_DIRS: [&str; 7] = [
    task::view::DIR,
    message::view::DIR,
    delivery::view::DIR,
    worker::view::DIR,
    mode::view::DIR,
    bootstrap::view::DIR,
    crate::thread::view::DIR,
];
/// Threads that write task views.
const WRITERS: usize = 2;
/// Tasks given to a thread at a time.
const PORTION: usize = 128;

/// Updates every view.
pub(crate) fn mend_all(live: &TeamState, reader: &Reader, home: &Home) -> Result<ViewUpdate> {
    let mut mended = mend_files(live, reader, home)?;
    mended.add(mend_inboxes(live, reader, home)?);
    Ok(mended)
}

/// Updates every view except inboxes.
pub(crate) fn mend_files(live: &TeamState, reader: &Reader, home: &Home) -> Result<ViewUpdate> {
    let mut mended = mend_team(live, home)?;
    mended.add(mend_tasks(live, home)?);
    mended.add(delivery::view::mend(live, reader, home)?);
    mended.add(Walk::mend(home, |to| {
        worker::view::walk(live, reader, to)?;
        mode::view::walk(live, to)?;
        bootstrap::view::walk(live, to)?;
        crate::thread::view::walk(live, reader, to)
    })?);
    Ok(mended)
}

/// Updates `team.json`.
pub(crate) fn mend_team(live: &TeamState, home: &Home) -> Result<ViewUpdate> {
    let Some(info) = live.team()? else {
        return Ok(ViewUpdate::default());
    };
    let text = team::view::text(&home.team, &info, live)?;
    home.put(&home.path(TEAM), &text).map(ViewUpdate::one)
}

/// Updates all inboxes, in one pass over the log.
pub(crate) fn mend_inboxes(live: &TeamState, reader: &Reader, home: &Home) -> Result<ViewUpdate> {
    let mut inboxes = Inboxes::new(home.clone())?;
    inboxes.start(true)?;
    reader.each(None, |located| {
        let event = &located.frame.event;
        if event.seq > live.seq() {
            return Ok(ControlFlow::Break(()));
        }
        if !event.foreign {
            inboxes.take(event, &Fact::decode(event)?)?;
        }
        Ok::<_, crate::Error>(ControlFlow::Continue(()))
    })?;
    inboxes.finish(live, reader)
}

/// Updates `tasks/`. If the directory is missing, builds the directory under another name, and renames it.
pub(crate) fn mend_tasks(live: &TeamState, home: &Home) -> Result<ViewUpdate> {
    let place = home.path(task::view::DIR);
    if home.exists(task::view::DIR)? {
        let (mut mended, names) = each_task(live, &|task, text| {
            task::view::text(task, text);
            let path = place.join(task::view::file_name(&task.task_id));
            home.put(&path, text)
        })?;
        mended.removed += home.remove_others(task::view::DIR, &names)?;
        return Ok(mended);
    }
    let aside = home.fresh_dir("tasks.new")?;
    let (mended, _) = each_task(live, &|task, text| {
        task::view::text(task, text);
        let path = aside.join(task::view::file_name(&task.task_id));
        let opened = home.storage.open(&path, OpenMode::CreateNew);
        let file = opened.map_err(failed("create", &path))?;
        file.write_all_at(text, 0).map_err(failed("write", &path))?;
        Ok(true)
    })?;
    home.rename(&aside, &place)?;
    Ok(mended)
}

/// Function that writes the view of a task, with a buffer for its text. The function returns true if the file differed.
type Write<'a> = &'a (dyn Fn(&Task, &mut Vec<u8>) -> Result<bool> + Sync);

/// Passes every task to `write`, on several threads if they can be started. Returns the result and the names of the files.
fn each_task(live: &TeamState, write: Write<'_>) -> Result<(ViewUpdate, BTreeSet<String>)> {
    let mut names = BTreeSet::new();
    let mended = thread::scope(|scope| {
        let (portions, received) = bounded::<Vec<Task>>(WRITERS * 2);
        let writers: Vec<_> = (0..WRITERS)
            .map_while(|_| {
                let received = received.clone();
                let writer = move || writer(&received, write);
                thread::Builder::new().spawn_scoped(scope, writer).ok()
            })
            .collect();
        drop(received);
        let mut mended = ViewUpdate::default();
        let fed = match writers.is_empty() {
            true => {
                let mut outcome = Ok(());
                let fed = feed(live, &mut names, |portion| {
                    outcome = write_all(portion, write, &mut mended);
                    outcome.is_ok()
                });
                outcome.and(fed)
            }
            false => feed(live, &mut names, |portion| portions.send(portion).is_ok()),
        };
        drop(portions);
        for writer in writers {
            mended.add(
                writer
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic))?,
            );
        }
        fed.map(|()| mended)
    })?;
    Ok((mended, names))
}

fn feed(
    live: &TeamState,
    names: &mut BTreeSet<String>,
    mut send: impl FnMut(Vec<Task>) -> bool,
) -> Result<()> {
    let mut portion = Vec::with_capacity(PORTION);
    for task in task::all(live.rows()) {
        let task = task?;
        names.insert(task::view::file_name(&task.task_id));
        portion.push(task);
        if portion.len() == PORTION && !send(std::mem::take(&mut portion)) {
            break;
        }
    }
    send(portion);
    Ok(())
}

fn writer(portions: &Receiver<Vec<Task>>, write: Write<'_>) -> Result<ViewUpdate> {
    let mut mended = ViewUpdate::default();
    for portion in portions {
        write_all(portion, write, &mut mended)?;
    }
    Ok(mended)
}

fn write_all(portion: Vec<Task>, write: Write<'_>, mended: &mut ViewUpdate) -> Result<()> {
    let mut text = Vec::new();
    for task in portion {
        mended.add(ViewUpdate::one(write(&task, &mut text)?));
    }
    Ok(())
}

/// Removes every view of a team that no longer keeps views, the cursor last. Without a cursor there are no views, unless another
/// program wrote them.
pub(crate) fn clear(home: &Home) -> Result<ViewUpdate> {
    let mut mended = ViewUpdate::default();
    for dir in VIEW_DIRS {
        if home.exists(dir)? {
            mended.removed += files_below(home, &home.path(dir))?;
            home.remove_dir(&home.path(dir))?;
        }
    }
    for file in [TEAM, super::synced::NAME, super::cursor::NAME] {
        let path = home.path(file);
        match home.storage.remove_file(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            removed => {
                removed.map_err(failed("remove", &path))?;
                mended.removed += u64::from(file == TEAM);
            }
        }
    }
    Ok(mended)
}

/// Returns the number of files in a directory of views.
fn files_below(home: &Home, dir: &Path) -> Result<u64> {
    let mut files = 0;
    for name in home.storage.list(dir).map_err(failed("list", dir))? {
        let path = dir.join(name);
        let stat = home.storage.stat(&path).map_err(failed("look at", &path))?;
        files += match stat.is_some_and(|stat| stat.is_dir) {
            true => files_below(home, &path)?,
            false => 1,
        };
    }
    Ok(files)
}
