//! Answers in the form of another surface, stored under their key as they went out.
//!
//! A command's own answer may get new fields with a new release. Whoever asks again under a key is to get the very bytes
//! of the first time, so a surface whose answers are sent as they are gives them their form under the lock, from the
//! state behind the events, and that is what is stored.

use crate::handle::prelude::*;

/// An answer as it goes out.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Exchange {
    /// What the surface says of it in a number.
    pub status: u16,
    /// The JSON text, byte for byte.
    pub body: Box<RawValue>,
}

impl Exchange {
    /// Of a value that serialises.
    pub fn of(status: u16, body: &impl Serialize) -> Result<Exchange> {
        let body = serde_json::value::to_raw_value(body).map_err(|error| Error::Invalid {
            field: "answer".into(),
            value: String::new(),
            rule: format!("must serialise: {error}"),
        })?;
        Ok(Exchange { status, body })
    }
}

/// Gives a command's answer its form.
pub type Form<T> = fn(&Live, &T, Timestamp) -> Result<Exchange>;

/// A command that can answer in another form than its own, which is `T`.
pub trait Exchanges<T>: Sized {
    /// Carries it out.
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
    /// Carries out a command, and answers in the form that is given; under a known key, with the bytes of the first
    /// time.
    pub fn exchange<T>(&mut self, command: impl Exchanges<T>, form: Form<T>) -> Result<Exchange> {
        command.exchange(self, form)
    }

    /// Whether the last answer of this handle was the repetition of an earlier one.
    pub fn repeated(&self) -> bool {
        self.repeated
    }

    /// When the first answer under a key was recorded.
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
