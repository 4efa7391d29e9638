//! Answers in the form of another surface, stored under their key as they went out.
//!
//! A command's own answer may get new fields with a new release. Whoever asks again under a key is to get the very bytes
//! of the first time, so a surface whose answers are sent as they are gives them their form under the lock, from the
//! state behind the events, and that is what is stored.

use crate::prelude::*;

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
            field: "answer",
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

impl<C: Command<Answer = T>, T> Exchanges<T> for C {
    fn exchange(self, team: &mut Team, form: Form<T>) -> Result<Exchange> {
        let command = self;
        team.execute(Exchanged { command, form })
    }
}

/// A command that answers in another form.
struct Exchanged<C: Command> {
    command: C,
    form: Form<C::Answer>,
}

// A derived one would ask the same of the answer.
impl<C: Command> Clone for Exchanged<C> {
    fn clone(&self) -> Self {
        let (command, form) = (self.command.clone(), self.form);
        Exchanged { command, form }
    }
}

impl<C: Command> Command for Exchanged<C> {
    type Decided = C::Decided;
    type Answer = Exchange;
    const WHEN_CLOSED: bool = C::WHEN_CLOSED;
    const GRANTS: bool = C::GRANTS;
    const LED: bool = C::LED;

    fn admits(&self, live: &Live, actor: Option<&str>, now: Timestamp) -> Result<()> {
        self.command.admits(live, actor, now)
    }

    fn names_actor(&self) -> bool {
        self.command.names_actor()
    }

    fn acts_for(&self) -> Option<&str> {
        self.command.acts_for()
    }

    fn is_consequence(&self, event: &NewEvent) -> bool {
        self.command.is_consequence(event)
    }

    fn decide(&self, live: &Live, now: Timestamp) -> Result<Decision<C::Decided>> {
        self.command.decide(live, now)
    }

    fn answer(&self, decided: &C::Decided, after: &After<'_>) -> Result<Exchange> {
        let answer = self.command.answer(decided, after)?;
        (self.form)(after.live, &answer, after.now)
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
        self.query(|live, reader| {
            let page = live.with_ref(RefKind::Key, key, None, 1)?;
            let Some(seq) = page.seqs.last() else {
                return Ok(None);
            };
            let event = live.event(reader, *seq)?;
            let event = event.filter(|event| event.kind == "response_stored");
            Ok(event.map(|event| event.created_at))
        })
    }
}
