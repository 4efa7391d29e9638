//! A pool for blocking work on the runtime's blocking threads. The pool limits the number of running jobs and the
//! number of queued jobs.

use crate::slots::Slots;
use std::panic::{AssertUnwindSafe, catch_unwind};
use tokio::sync::OwnedSemaphorePermit;
use tokio::task::{JoinHandle, block_in_place, spawn_blocking};

/// Reason why a job has no result.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NoResult {
    /// The queue is full, or the pool is closed.
    Full,
    /// The job panicked.
    Panicked,
}

/// Limits for running and for queued jobs.
pub(crate) struct Pool {
    /// Slots of queued and running jobs.
    open: Slots,
    /// Slots of running jobs.
    running: Slots,
}

impl Pool {
    pub fn new(workers: usize, queue: usize) -> Pool {
        Pool {
            open: Slots::new(workers.saturating_add(queue)),
            running: Slots::new(workers),
        }
    }

    /// Runs a job on a blocking thread. Jobs start in the order of requests. A job is dropped if its requester leaves
    /// before the job starts.
    pub async fn run<A: Send + 'static>(
        &self,
        work: impl FnOnce() -> A + Send + 'static,
    ) -> Result<A, NoResult> {
        let open = self.open.take().ok_or(NoResult::Full)?;
        let running = self.running.next().await.ok_or(NoResult::Full)?;
        // If the requester leaves, a running job continues and keeps its slots.
        let job = move || {
            let _slots = (open, running);
            work()
        };
        // Continuing after a panic is safe, because interrupted changes poison the team's handle.
        let begun = on_a_thread(job).ok_or(NoResult::Full)?;
        begun.await.map_err(|_| NoResult::Panicked)
    }

    /// Takes a slot for a queued or running job.
    pub fn slot(&self) -> Result<OwnedSemaphorePermit, NoResult> {
        self.open.take().ok_or(NoResult::Full)
    }

    /// Runs a job that already has its slots, as soon as a thread is free.
    pub fn begin(&self, work: impl FnOnce() + Send + 'static) {
        let job = |running: OwnedSemaphorePermit| {
            move || {
                let _running = running;
                work();
            }
        };
        match self.running.take() {
            Some(running) => drop(on_a_thread(job(running))),
            None => {
                let running = self.running.next();
                drop(tokio::spawn(async move {
                    if let Some(running) = running.await {
                        drop(on_a_thread(job(running)));
                    }
                }));
            }
        }
    }

    /// Runs a job that already has its slot on this thread, and moves other tasks of this thread to another thread.
    /// Returns `None` if too many jobs run.
    pub fn run_here<A>(&self, work: impl FnOnce() -> A) -> Option<A> {
        let _running = self.running.take()?;
        Some(block_in_place(work))
    }

    /// Returns the number of queued and of running jobs.
    pub fn load(&self) -> (usize, usize) {
        let running = self.running.taken();
        (self.open.taken().saturating_sub(running), running)
    }

    /// Closes the pool, and waits until all jobs are done.
    pub async fn close(&self) {
        let _all = self.open.all().await;
        self.open.close();
    }
}

/// Starts a job on a blocking thread. If no thread is free and the system starts no new thread, drops the job and
/// returns `None`.
pub(crate) fn on_a_thread<A: Send + 'static>(
    job: impl FnOnce() -> A + Send + 'static,
) -> Option<JoinHandle<A>> {
    // Tokio panics if it cannot start a thread.
    catch_unwind(AssertUnwindSafe(|| spawn_blocking(job))).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Barrier, mpsc};
    use std::time::Duration;
    use tokio::time::timeout;

    const LONG: Duration = Duration::from_secs(5);

    fn block_on<F: Future>(future: F) -> F::Output {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build();
        runtime.unwrap().block_on(future)
    }

    /// Polls a future once, without waiting for other futures.
    async fn begin(
        pool: &Arc<Pool>,
        work: impl FnOnce() + Send + 'static,
    ) -> tokio::task::JoinHandle<Result<(), NoResult>> {
        let pool = pool.clone();
        let begun = tokio::spawn(async move { pool.run(work).await });
        tokio::task::yield_now().await;
        begun
    }

    #[test]
    fn more_than_may_wait_is_turned_away_and_a_panic_takes_no_thread() {
        block_on(async {
            let pool = Arc::new(Pool::new(1, 1));
            let panicked = pool.run(|| panic!("on purpose")).await;
            assert_eq!(panicked, Err::<(), _>(NoResult::Panicked));
            let (go_on, may_go_on) = mpsc::channel::<()>();
            let first = begin(&pool, move || may_go_on.recv().unwrap()).await;
            let second = begin(&pool, || ()).await;
            assert_eq!(pool.run(|| ()).await, Err(NoResult::Full));
            assert_eq!(pool.load(), (1, 1));
            let closed = timeout(Duration::from_millis(20), pool.close()).await;
            assert!(closed.is_err());
            go_on.send(()).unwrap();
            timeout(LONG, pool.close()).await.unwrap();
            assert_eq!(pool.run(|| ()).await, Err(NoResult::Full));
            assert_eq!(
                (first.await.unwrap(), second.await.unwrap()),
                (Ok(()), Ok(()))
            );
        });
    }

    #[test]
    fn where_nothing_may_wait_everything_is_begun_or_turned_away() {
        block_on(async {
            let pool = Arc::new(Pool::new(2, 0));
            let meet = Arc::new(Barrier::new(3));
            for _ in 0..2 {
                let meet = meet.clone();
                begin(&pool, move || {
                    meet.wait();
                })
                .await;
            }
            assert_eq!(pool.run(|| ()).await, Err(NoResult::Full));
            meet.wait();
            timeout(LONG, pool.close()).await.unwrap();
        });
    }

    #[test]
    fn a_job_never_waits_behind_another_while_there_may_be_one_more_thread() {
        block_on(async {
            let pool = Arc::new(Pool::new(8, 8));
            let meet = Arc::new(Barrier::new(8));
            let mut begun = Vec::new();
            for _ in 0..8 {
                let meet = meet.clone();
                begun.push(
                    begin(&pool, move || {
                        meet.wait();
                    })
                    .await,
                );
            }
            for job in begun {
                assert_eq!(timeout(LONG, job).await.unwrap().unwrap(), Ok(()));
            }
        });
    }

    #[test]
    fn what_is_run_here_has_a_slot_of_those_that_run_and_keeps_the_thread() {
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime = runtime.worker_threads(1).build().unwrap();
        let task = runtime.spawn(async {
            let pool = Pool::new(1, 1);
            let before = std::thread::current().id();
            let inside = pool.run_here(|| {
                let elsewhere = pool.run_here(|| ());
                (std::thread::current().id(), pool.load(), elsewhere)
            });
            (before, inside, pool.running.taken())
        });
        let (before, inside, taken) = runtime.block_on(task).unwrap();
        let (here, load, elsewhere) = inside.unwrap();
        assert_eq!((here, load, elsewhere, taken), (before, (0, 1), None, 0));
    }

    #[test]
    fn work_that_nobody_waits_for_is_left_undone() {
        block_on(async {
            let pool = Arc::new(Pool::new(1, 1));
            let (go_on, may_go_on) = mpsc::channel::<()>();
            let (tell, told) = mpsc::channel();
            begin(&pool, move || may_go_on.recv().unwrap()).await;
            let left = begin(&pool, move || tell.send(()).unwrap()).await;
            left.abort();
            assert!(left.await.unwrap_err().is_cancelled());
            go_on.send(()).unwrap();
            timeout(LONG, pool.close()).await.unwrap();
            assert!(told.try_recv().is_err());
        });
    }
}
