//! Task messages that have commands of their own. The fields of the payload are fields of the command.

/// Defines the command of a task message: its type, the type of message, the method of [`Team`](crate::Team) that sends the message, and
/// the fields of the payload.
macro_rules! task_message {
    (
        $(#[$about:meta])*
        $name:ident as $kind:literal by $method:ident {
            $($(#[$meta:meta])* $field:ident: $type:ty,)+
        }
    ) => {
        $(#[$about])*
        #[derive(Debug, Clone, Default, Serialize)]
        pub struct $name {
            /// The sender.
            #[serde(skip)]
            pub from: String,
            /// The recipient; the recipient of an assignment becomes the owner of the task.
            #[serde(skip)]
            pub to: String,
            /// Id of the task.
            #[serde(skip)]
            pub task_id: String,
            $($(#[$meta])* pub $field: $type,)+
            /// See [`Send::trace_id`].
            #[serde(skip)]
            pub trace_id: Option<String>,
            /// See [`Send::priority`].
            #[serde(skip)]
            pub priority: Option<String>,
            /// See [`Send::message_id`].
            #[serde(skip)]
            pub message_id: Option<String>,
            /// See [`Send::created_at`].
            #[serde(skip)]
            pub created_at: Option<String>,
            /// See [`Send::cooldown_seconds`].
            #[serde(skip)]
            pub cooldown_seconds: Option<u64>,
            /// See [`Send::delivery`].
            #[serde(skip)]
            pub delivery: Option<Require>,
        }

        impl From<$name> for Send {
            fn from(it: $name) -> Send {
                Send {
                    payload: page::json_text(&it),
                    from: it.from,
                    to: it.to,
                    kind: $kind.into(),
                    message_id: it.message_id,
                    task_id: Some(it.task_id),
                    trace_id: it.trace_id,
                    priority: it.priority,
                    created_at: it.created_at,
                    cooldown_seconds: it.cooldown_seconds,
                    delivery: it.delivery,
                }
            }
        }

        impl Team {
            $(#[$about])*
            pub fn $method(&mut self, message: $name) -> Result<SendAnswer> {
                self.send(message.into())
            }
        }
    };
}
pub(crate) use task_message;
