//! Events of a thread, and the JSON of their payloads.

use super::*;

events! {
    /// An event of a thread.
    #[derive(Serialize)]
    #[serde(untagged)]
    pub enum ThreadAct of ThreadFact { thread_id } {
        /// A thread was started.
        "thread_started" by "teamlog thread start TEAM" => Started: ThreadStarted [name participants, name task_id] {
            /// Title.
            pub title: String,
            /// Participants.
            pub participants: Vec<String>,
            /// Task of the thread, if any.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub task_id: Option<String>,
        },
        /// A message was posted to a thread.
        "thread_message_posted" by "teamlog thread post TEAM" => Posted:
        /// A post. The id of the post's event is the id of the post.
        Posted [name from, name to] {
            /// Author.
            pub from: String,
            /// Agents named in the post, which are notified.
            pub to: Vec<String>,
            /// Text.
            pub body: String,
        },
        /// A thread was linked to a task.
        "thread_linked" by "teamlog thread link TEAM" => Linked: ThreadLinked [name task_id] {
            /// Id of the task.
            pub task_id: String,
        },
    }
}

impl ThreadFact {
    /// Builds the event; `task` and `trace` are the task and the trace id of the thread.
    pub fn event(&self, actor: &str, task: Option<&str>, trace: Option<&str>) -> NewEvent {
        let refs = [
            (RefKind::Thread, Some(&*self.thread_id)),
            (RefKind::Task, task),
            (RefKind::Trace, trace),
        ];
        event(self.act.kind(), actor, write(self), refs)
    }
}
