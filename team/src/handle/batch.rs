//! Commands whose answers wait together for one sync.
//!
//! In a long-running process one thread carries out the waiting commands of a team, one after the other. Each command sees the
//! events of the previous commands, although these events are not durable yet. The answer of each command is held back. Then
//! [`Batch::settle`] makes all events durable at once. If the sync fails, it is unknown if the log has the events, so no answer is
//! sent. The same commands are then called once more, and the batch answers each of them with the failure.

use crate::handle::open_team::{LastSync, OpenTeam, WriterSlot, locked};
use crate::handle::prelude::*;
use crate::handle::team::input_fault;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, RwLockReadGuard};

/// A batch of commands of one team; see [`Root::in_batch`]. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Batch(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    log: Log,
    open_team: Arc<OpenTeam>,
    /// The writer that buffers the events of the batch.
    writer: Mutex<Option<Arc<LastSync>>>,
    /// True if a call recorded an event after the last call of [`Batch::missed`].
    recorded: AtomicBool,
    /// True if a call found no writer after the last call of [`Batch::missed`].
    missed: AtomicBool,
    /// The failure of the batch's sync.
    failed: OnceLock<Error>,
}

impl Batch {
    pub(crate) fn new(open_team: Arc<OpenTeam>, log: Log) -> Batch {
        Batch(Arc::new(Shared {
            log,
            open_team,
            writer: Mutex::default(),
            recorded: AtomicBool::new(false),
            missed: AtomicBool::new(false),
            failed: OnceLock::new(),
        }))
    }

    pub(crate) fn team(&self) -> &str {
        &self.0.log.identity().name
    }

    pub(crate) fn log(&self) -> &Log {
        &self.0.log
    }

    pub(crate) fn open_team(&self) -> &Arc<OpenTeam> {
        &self.0.open_team
    }

    /// Returns the slot with the writer that records the events of the batch.
    ///
    /// # Errors
    /// The failure of the batch. Also fails if a command on the whole log has closed the writer, because a batch does not wait for that
    /// command.
    pub(crate) fn slot<'a>(
        &self,
        open_team: &'a OpenTeam,
        team: &Team,
    ) -> Result<RwLockReadGuard<'a, WriterSlot>> {
        if let Some(error) = self.0.failed.get() {
            return Err(input_fault(error.again()));
        }
        if let Some(slot) = open_team.taken() {
            return Ok(slot);
        }
        // A call that has recorded an event cannot be repeated outside the batch, so this call waits for the writer.
        if self.0.recorded.load(Ordering::Relaxed) {
            return open_team.filled(team);
        }
        self.0.missed.store(true, Ordering::Relaxed);
        Err(Error::Poisoned("the writer gave way".into()).into())
    }

    /// Notes the writer that recorded the events of a command.
    pub(crate) fn waits_for(&self, end: &Arc<LastSync>) {
        self.0.recorded.store(true, Ordering::Relaxed);
        let mut writer = locked(&self.0.writer);
        if let Some(before) = writer.replace(end.clone())
            && !Arc::ptr_eq(&before, end)
        {
            self.settle_with(&before);
        }
    }

    /// Returns true if a call found no writer, and resets the flag. A call without a writer recorded nothing, and the caller must
    /// drop its answer. The caller must repeat the call outside the batch. Call this method once after each call.
    #[must_use]
    pub fn missed(&self) -> bool {
        self.0.recorded.store(false, Ordering::Relaxed);
        self.0.missed.swap(false, Ordering::Relaxed)
    }

    /// Makes all events durable that the commands of the batch recorded or saw. Returns true if the
    /// answers may be sent.
    #[must_use]
    pub fn settle(&self) -> bool {
        let writer = locked(&self.0.writer).take();
        if let Some(writer) = writer {
            self.settle_with(&writer);
        }
        self.0.failed.get().is_none()
    }

    fn settle_with(&self, writer: &Arc<LastSync>) {
        if let Err(error) = self.0.open_team.settle(writer) {
            // Keeps the first failure, because later failures follow from it.
            let _ = self.0.failed.set(error);
        }
    }
}

impl OpenTeam {
    /// Like [`OpenTeam::log`]. Also returns `None` if the lock file was replaced, because other processes then lock the new file.
    pub fn log_in_place(&self) -> Option<Log> {
        let slot = self.slot.try_read().ok()?;
        let WriterSlot::Taken {
            log,
            lock: Some(lock),
            ..
        } = &*slot
        else {
            return None;
        };
        let stays = *locked(&self.pauses) == 0 && log.is_locked_by(*lock);
        stays.then(|| log.clone())
    }

    /// Returns the log of the open writer. Returns `None` if there is no writer, or if the writer must release the log.
    pub fn log(&self) -> Option<Log> {
        match &*self.slot.try_read().ok()? {
            WriterSlot::Taken { log, .. } if *locked(&self.pauses) == 0 => Some(log.clone()),
            _ => None,
        }
    }

    /// Returns the slot if its writer is open and need not release the log.
    pub fn taken(&self) -> Option<RwLockReadGuard<'_, WriterSlot>> {
        let slot = self.read();
        let stays = *locked(&self.pauses) == 0;
        (stays && matches!(*slot, WriterSlot::Taken { .. })).then_some(slot)
    }

    /// Syncs the writer's buffered events. If the writer has left its slot, returns the result of its last sync.
    ///
    /// # Errors It is unknown if the events are durable.
    pub fn settle(&self, of: &Arc<LastSync>) -> Result<(), Error> {
        let slot = self.read();
        let synced = match &*slot {
            WriterSlot::Taken { writer, end, .. } if Arc::ptr_eq(end, of) => {
                let synced = writer.sync();
                if synced.is_ok() {
                    self.follow(writer);
                }
                synced
            }
            _ => match of.get() {
                Some(Ok(())) => return Ok(()),
                Some(Err(error)) => return Err(error.again()),
                // Unreachable: the result is set before the writer leaves its slot.
                None => Err(Error::Poisoned("the writer left its slot".into())),
            },
        };
        drop(slot);
        if synced.is_err() {
            self.vacate();
        }
        synced
    }

    /// Answers from the open writer's state alone. The state includes events that are not durable yet, so the caller must not
    /// send the answer before the sync. Returns `None` in the cases of [`OpenTeam::query`].
    pub fn peek<A>(&self, answer: &mut impl FnMut(&Live) -> Result<A>) -> Option<Result<A>> {
        let slot = self.taken()?;
        let WriterSlot::Taken { writer, .. } = &*slot else {
            return None;
        };
        let answered = writer.with_state(|live| answer(live));
        // Returns `None` if a derived file is damaged. A caller that can wait repairs the file.
        (!answered.as_ref().is_err_and(Failure::is_derived)).then_some(answered)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handle::root::RootOptions;
    use crate::lifecycle::init::Init;
    use crate::task::create::TaskCreate;
    use teamlog_engine::internals::storage::{Fault, Faulty};
    use teamlog_engine::storage::Memory;

    /// Opens a root with a team `demo`, on a storage that counts calls and can fail.
    fn open() -> (Faulty, Root) {
        let faulty = Faulty::new(Arc::new(Memory::new()));
        let root = Root::on(Arc::new(faulty.clone()), RootOptions::default()).resident();
        // The team has no view files, because their delayed writes would disturb the counts.
        let init = Init {
            no_views: true,
            ..Init::for_team("demo")
        };
        root.init(init).unwrap();
        root.team("demo").unwrap().writable().unwrap();
        (faulty, root)
    }

    fn create(root: &Root, batch: Option<&Batch>) -> Result<String> {
        let root = root.clone().in_batch(batch.cloned());
        let input = TaskCreate {
            subject: "one of many".into(),
            ..TaskCreate::default()
        };
        let answer = root.team("demo")?.task_create(input)?;
        Ok(answer.task.task.task_id)
    }

    fn tasks(root: &Root) -> u64 {
        let mut team = root.team("demo").unwrap();
        team.query(|live, _| Ok(live.counts()?.tasks)).unwrap()
    }

    fn syncs(faulty: &Faulty, from: usize) -> usize {
        let calls = faulty.calls();
        let later = calls[from..].iter();
        later.filter(|call| call.0 == "sync_data").count()
    }

    #[test]
    fn each_command_sees_those_before_it_and_one_sync_makes_all_of_them_durable() {
        let (faulty, root) = open();
        let batch = root.batch("demo").unwrap();
        let before = faulty.count();
        let ids: Vec<String> = (0..20)
            .map(|_| create(&root, Some(&batch)).unwrap())
            .collect();
        assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), 20);
        assert_eq!(syncs(&faulty, before), 0);
        assert!(!batch.missed());
        assert!(batch.settle());
        assert_eq!(syncs(&faulty, before), 1);
        assert_eq!(tasks(&root), 20);
    }

    #[test]
    fn whoever_asks_beside_a_batch_sees_only_what_is_durable() {
        let (faulty, root) = open();
        let batch = root.batch("demo").unwrap();
        let before = faulty.count();
        create(&root, Some(&batch)).unwrap();
        assert_eq!(tasks(&root), 1);
        assert_eq!(syncs(&faulty, before), 1);
    }

    #[test]
    fn where_the_sync_fails_every_command_of_the_batch_is_told_so_and_none_is_repeated() {
        let (faulty, root) = open();
        let batch = root.batch("demo").unwrap();
        create(&root, Some(&batch)).unwrap();
        let before = faulty.count();
        assert!(batch.settle());
        let calls = faulty.calls().split_off(before);
        let sync = calls.iter().position(|call| call.0 == "sync_data");
        let batch = root.batch("demo").unwrap();
        for _ in 0..3 {
            create(&root, Some(&batch)).unwrap();
        }
        faulty.arm(faulty.count() + sync.unwrap(), Fault::Os(5));
        assert!(!batch.settle());
        for _ in 0..3 {
            let failure = create(&root, Some(&batch)).unwrap_err();
            assert!(
                failure.engine().is_some_and(Error::is_sync_error),
                "{failure}"
            );
        }
        // After the failure no command writes anything.
        let failure = create(&root, None).unwrap_err();
        assert_eq!(failure.refusal().unwrap().code, Code::SyncFailed);
    }

    #[test]
    fn a_writer_that_gives_way_makes_the_batch_durable_and_takes_no_more_of_it() {
        let (_, root) = open();
        let batch = root.batch("demo").unwrap();
        create(&root, Some(&batch)).unwrap();
        assert!(!batch.missed());
        let pause = root.give_way("demo").unwrap();
        create(&root, Some(&batch)).unwrap_err();
        assert!(batch.missed());
        assert!(root.batch("demo").is_none());
        drop(pause);
        assert!(batch.settle());
        assert_eq!(tasks(&root), 1);
        create(&root, None).unwrap();
        assert_eq!(tasks(&root), 2);
    }
}
