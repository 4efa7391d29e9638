//! Work that may block, on the runtime's threads for it: so much at a time and no more, with a queue that ends.

use crate::slots::Slots;
use std::panic::{AssertUnwindSafe, catch_unwind};
use tokio::sync::OwnedSemaphorePermit;
use tokio::task::{JoinHandle, block_in_place, spawn_blocking};

/// Why a job has no answer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Undone {
    /// More is to do than may wait, or nothing is begun any more.
    Full,
    /// It panicked.
    Panicked,
}

/// So many jobs at a time, and so many that wait.
pub(crate) struct Pool {
    /// For jobs that wait or run.
    open: Slots,
    /// For jobs that run.
    running: Slots,
}

impl Pool {
    pub fn new(workers: usize, queue: usize) -> Pool {
        Pool {
            open: Slots::new(workers.saturating_add(queue)),
            running: Slots::new(workers),
        }
    }

    /// Runs one job where it may block, in the order of asking. Work that nobody waits for any more when its turn comes is
    /// left undone.
    pub async fn run<A: Send + 'static>(
        &self,
        work: impl FnOnce() -> A + Send + 'static,
    ) -> Result<A, Undone> {
        let open = self.open.take().ok_or(Undone::Full)?;
        let running = self.running.next().await.ok_or(Undone::Full)?;
        // Who asks may leave; the work goes on, and its slots with it.
        let job = move || {
            let _slots = (open, running);
            work()
        };
        // What a panic leaves behind is the domain's to judge.
        let begun = on_a_thread(job).ok_or(Undone::Full)?;
        begun.await.map_err(|_| Undone::Panicked)
    }

    /// A slot for a job that waits or runs.
    pub fn slot(&self) -> Result<OwnedSemaphorePermit, Undone> {
        self.open.take().ok_or(Undone::Full)
    }

    /// Runs what has its slots already, as soon as a thread is free.
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

    /// Runs what has its slot already at once, on this thread, whose other tasks go to another one; `None` where as many run
    /// as may.
    pub fn run_here<A>(&self, work: impl FnOnce() -> A) -> Option<A> {
        let _running = self.running.take()?;
        Some(block_in_place(work))
    }

    /// How many jobs wait, and how many run.
    pub fn load(&self) -> (usize, usize) {
        let running = self.running.taken();
        (self.open.taken().saturating_sub(running), running)
    }

    /// Takes no more, and ends when everything is done.
    pub async fn close(&self) {
        let _all = self.open.all().await;
        self.open.close();
    }
}

/// Begins a job on a thread for work that may block; `None`, and the job is dropped, where the system starts no thread and
/// there is none yet.
pub(crate) fn on_a_thread<A: Send + 'static>(
    job: impl FnOnce() -> A + Send + 'static,
) -> Option<JoinHandle<A>> {
    // Tokio panics then.
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

    /// Starts a job, and lets it get as far as it gets without waiting for others.
    async fn begin(
        pool: &Arc<Pool>,
        work: impl FnOnce() + Send + 'static,
    ) -> tokio::task::JoinHandle<Result<(), Undone>> {
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
            assert_eq!(panicked, Err::<(), _>(Undone::Panicked));
            let (go_on, may_go_on) = mpsc::channel::<()>();
            let first = begin(&pool, move || may_go_on.recv().unwrap()).await;
            let second = begin(&pool, || ()).await;
            assert_eq!(pool.run(|| ()).await, Err(Undone::Full));
            assert_eq!(pool.load(), (1, 1));
            let closed = timeout(Duration::from_millis(20), pool.close()).await;
            assert!(closed.is_err());
            go_on.send(()).unwrap();
            timeout(LONG, pool.close()).await.unwrap();
            assert_eq!(pool.run(|| ()).await, Err(Undone::Full));
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
            assert_eq!(pool.run(|| ()).await, Err(Undone::Full));
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
