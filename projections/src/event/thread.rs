//! What can happen to a thread, and the JSON of those payloads.

use super::*;

events! {
    /// One thing that happens to a thread.
    #[derive(Serialize)]
    #[serde(untagged)]
    pub enum ThreadAct of ThreadFact { thread_id } {
        /// A thread was started.
        "thread_started" by "teamlog thread start TEAM" => Started: ThreadStarted [name participants, name task_id] {
            /// What it is about.
            pub title: String,
            /// Who takes part.
            pub participants: Vec<String>,
            /// The task that it belongs to.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub task_id: Option<String>,
        },
        /// A message was posted to a thread.
        "thread_message_posted" by "teamlog thread post TEAM" => Posted:
        /// The message's id is that of its event.
        Posted [name from, name to] {
            /// Who said it.
            pub from: String,
            /// Who is told of it, by name.
            pub to: Vec<String>,
            /// What was said.
            pub body: String,
        },
        /// A thread was linked to a task.
        "thread_linked" by "teamlog thread link TEAM" => Linked: ThreadLinked [name task_id] {
            /// The task.
            pub task_id: String,
        },
    }
}

impl ThreadFact {
    /// The event that records it; `task` and `trace` are those of the thread.
    pub fn event(&self, actor: &str, task: Option<&str>, trace: Option<&str>) -> NewEvent {
        let refs = [
            (RefKind::Thread, Some(&*self.thread_id)),
            (RefKind::Task, task),
            (RefKind::Trace, trace),
        ];
        event(self.act.kind(), actor, write(self), refs)
    }
}
