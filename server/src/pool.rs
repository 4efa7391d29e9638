//! Threads that may block: so many and no more, with a queue that ends. They are started as they are needed.

use crossbeam_channel::{Receiver, Sender, unbounded};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

type Job = Box<dyn FnOnce() + Send>;

/// Why a job has no answer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Undone {
    /// More is to do than may wait, or nothing is begun any more.
    Full,
    /// It panicked.
    Panicked,
}

/// The threads.
pub(crate) struct Pool {
    jobs: Mutex<Option<Sender<Job>>>,
    queue: Receiver<Job>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    workers: usize,
    /// How many jobs may wait and run.
    open_max: usize,
    /// Jobs that wait or run.
    open: Arc<AtomicUsize>,
}

impl Pool {
    pub fn new(workers: usize, queue: usize) -> Pool {
        let (jobs, waiting) = unbounded();
        Pool {
            jobs: Mutex::new(Some(jobs)),
            queue: waiting,
            threads: Mutex::default(),
            workers,
            open_max: workers.saturating_add(queue),
            open: Arc::default(),
        }
    }

    /// Runs one job on a thread of the pool. Work that nobody waits for any more when its turn comes is left undone.
    ///
    /// # Errors
    /// See [`Undone`].
    pub async fn run<A: Send + 'static>(
        &self,
        work: impl FnOnce() -> A + Send + 'static,
    ) -> Result<A, Undone> {
        let (tell, answer) = oneshot::channel();
        let job: Job = Box::new(move || {
            if !tell.is_closed() {
                let _ = tell.send(work());
            }
        });
        self.submit(job)?;
        answer.await.map_err(|_| Undone::Panicked)
    }

    fn submit(&self, job: Job) -> Result<(), Undone> {
        let jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(jobs) = jobs.as_ref() else {
            return Err(Undone::Full);
        };
        // Counted before a thread can be done with it.
        let open = self.open.fetch_add(1, Ordering::Relaxed) + 1;
        if open > self.open_max || !self.see_to_threads(open) || jobs.send(job).is_err() {
            self.open.fetch_sub(1, Ordering::Relaxed);
            return Err(Undone::Full);
        }
        Ok(())
    }

    /// Starts one more thread where there is more to do than threads to do it; whether there is any.
    fn see_to_threads(&self, wanted: usize) -> bool {
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        if threads.len() >= self.workers || threads.len() >= wanted {
            return true;
        }
        let (queue, open) = (self.queue.clone(), self.open.clone());
        let name = format!("call-{}", threads.len());
        let started = std::thread::Builder::new().name(name).spawn(move || {
            for job in queue {
                // What a panic leaves behind is the domain's to judge; the thread goes on.
                let _ = catch_unwind(AssertUnwindSafe(job));
                open.fetch_sub(1, Ordering::Relaxed);
            }
        });
        // Where no more can be started, those that run will come to it.
        threads.extend(started.ok());
        !threads.is_empty()
    }

    /// How many jobs wait, and how many run.
    pub fn load(&self) -> (usize, usize) {
        let waiting = self.queue.len();
        let open = self.open.load(Ordering::Relaxed);
        (waiting, open.saturating_sub(waiting))
    }

    /// Takes no more, and waits until everything is done; whether it is.
    pub fn close(&self, within: Duration) -> bool {
        self.jobs
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let until = Instant::now() + within;
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        while threads.iter().any(|thread| !thread.is_finished()) {
            if Instant::now() >= until {
                return false;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        threads.drain(..).all(|thread| thread.join().is_ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    fn block_on<F: Future>(future: F) -> F::Output {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        runtime.block_on(future)
    }

    #[test]
    fn more_than_may_wait_is_turned_away_and_a_panic_takes_no_thread() {
        let pool = Pool::new(1, 1);
        assert_eq!(
            block_on(pool.run(|| panic!("on purpose"))),
            Err::<(), _>(Undone::Panicked)
        );
        let (begun, has_begun) = mpsc::channel();
        let (go_on, may_go_on) = mpsc::channel::<()>();
        pool.submit(Box::new(move || {
            begun.send(()).unwrap();
            may_go_on.recv().unwrap();
        }))
        .unwrap();
        has_begun.recv().unwrap();
        pool.submit(Box::new(|| {})).unwrap();
        assert_eq!(block_on(pool.run(|| ())), Err(Undone::Full));
        assert_eq!(pool.load(), (1, 1));
        assert!(!pool.close(Duration::from_millis(20)));
        go_on.send(()).unwrap();
        assert!(pool.close(Duration::from_secs(5)));
        assert_eq!(block_on(pool.run(|| ())), Err(Undone::Full));
    }

    #[test]
    fn where_nothing_may_wait_everything_is_begun_or_turned_away() {
        let pool = Pool::new(2, 0);
        let (go_on, may_go_on) = crossbeam_channel::bounded::<()>(0);
        for _ in 0..2 {
            let wait = may_go_on.clone();
            pool.submit(Box::new(move || wait.recv().unwrap())).unwrap();
        }
        assert_eq!(pool.submit(Box::new(|| {})), Err(Undone::Full));
        for _ in 0..2 {
            go_on.send_timeout((), Duration::from_secs(5)).unwrap();
        }
        assert!(pool.close(Duration::from_secs(5)));
    }

    #[test]
    fn a_job_never_waits_behind_another_while_there_may_be_one_more_thread() {
        let pool = Pool::new(8, 8);
        let (meet, met) = (Arc::new(std::sync::Barrier::new(9)), mpsc::channel());
        for _ in 0..8 {
            let (meet, tell) = (meet.clone(), met.0.clone());
            pool.submit(Box::new(move || {
                meet.wait();
                tell.send(()).unwrap();
            }))
            .unwrap();
        }
        meet.wait();
        for _ in 0..8 {
            met.1.recv_timeout(Duration::from_secs(5)).unwrap();
        }
    }
}
