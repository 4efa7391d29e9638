//! `thread-link`: links a thread to a task.

use crate::claim::existing;
use crate::projections::thread::event::ThreadLinked;
use crate::thread::prelude::*;

operation! {
    /// Link a thread to a task
    "thread-link": Records(ThreadLink {
        /// Id of the thread
        #[arg(value_name = "THREAD")]
        thread_id: String,
        /// Task to link the thread to
        #[arg(value_name = "TASK")]
        task_id: String,
        /// Agent that links the thread
        #[arg(id = "agent", long, value_name = "AGENT")]
        worker: Option<String>,
    }) -> ThreadAnswer as thread_link,
    refuses = [WorkerNotFound, TaskNotFound, ThreadNotFound],
    rules = RULES
}

impl Command for ThreadLink {
    type Decided = ();
    type Answer = ThreadAnswer;

    fn terms(&self) -> CommandTerms<'_> {
        CommandTerms::new(Authority::of_named(self.worker.as_deref())).named(self.worker.is_some())
    }

    fn decide(&self, ctx: &Ctx, live: &Live) -> Result<Decision<()>> {
        let worker = ctx.agent(self.worker.as_deref());
        let mut events = author(live, worker)?;
        let trace = existing(live, Some(&self.task_id))?;
        let thread = found(live, &self.thread_id)?;
        if thread.task_id.as_ref() == Some(&self.task_id) {
            return Ok(Decision::Granted((), Vec::new()));
        }
        let fact = ThreadFact {
            thread_id: self.thread_id.clone(),
            act: ThreadAct::Linked(ThreadLinked {
                task_id: self.task_id.clone(),
            }),
        };
        let actor = worker.unwrap_or(SYSTEM);
        let trace = thread.trace_id.or(trace);
        events.push(fact.event(actor, Some(&self.task_id), trace.as_deref()));
        Ok(Decision::Granted((), events))
    }

    fn answer(&self, (): &(), after: &After<'_>) -> Result<ThreadAnswer> {
        shown(after.live, &self.thread_id)
    }
}
