//! Answers in the form of another surface, such as HTTP. Such an answer is stored under its idempotency key exactly as it
//! was sent.
//!
//! A new release may add fields to the answer of a command, but a repeated request must get the bytes of its first answer. So the answer is
//! converted to the surface's form under the lock, from the state after the events, and the converted answer is stored.

use crate::handle::prelude::*;

/// An answer as the surface sends it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Exchange {
    /// Status code of the surface.
    pub status: u16,
    /// JSON text, byte for byte.
    pub body: Box<RawValue>,
}

impl Exchange {
    /// Returns an answer with `body` as its JSON text.
    pub fn new(status: u16, body: &impl Serialize) -> Result<Exchange> {
        let body = serde_json::value::to_raw_value(body).map_err(|error| Error::Invalid {
            field: "answer".into(),
            value: String::new(),
            rule: format!("must serialise: {error}"),
        })?;
        Ok(Exchange { status, body })
    }
}

/// Converts a command's answer into the form of a surface.
pub type Form<T> = fn(&Live, &T, Timestamp) -> Result<Exchange>;

/// A command whose answer `T` can be sent in another form.
pub trait Exchanges<T>: Sized {
    /// Carries out the command.
    fn exchange(self, team: &mut Team, form: Form<T>) -> Result<Exchange>;
}

impl<C: Command<Answer = T>, T: Send + 'static> Exchanges<T> for C {
    fn exchange(self, team: &mut Team, form: Form<T>) -> Result<Exchange> {
        team.execute_as(self, move |after, answer| {
            form(after.live, &answer, after.ctx.now)
        })
    }
}

impl Team {
    /// Carries out a command and returns the answer in the given form. For a known key, returns the bytes of the first answer.
    pub fn exchange<T>(&mut self, command: impl Exchanges<T>, form: Form<T>) -> Result<Exchange> {
        command.exchange(self, form)
    }

    /// Returns true if the last answer of this handle only repeated a stored answer.
    pub fn repeated(&self) -> bool {
        self.repeated
    }

    /// Returns the time when the first answer under a key was recorded.
    pub fn answered_at(&mut self, key: &str) -> Result<Option<Timestamp>> {
        let known = self.options.authenticated.clone();
        let agent = known.as_ref().map(|known| &*known.agent);
        self.query(|live, reader| {
            let own = live.response_event(reader, agent, key)?;
            let event = match own {
                None if agent.is_some() => live.response_event(reader, None, key)?,
                own => own,
            };
            Ok(event.map(|event| event.created_at))
        })
    }
}
