//! What every change of a team's state has in common: the key under which it is asked for, the story that it belongs to,
//! and the way to its answer.

use crate::call::{Call, Who};
use crate::context::Context;
use crate::exit::{CommandError, Exit, Outcome};
use crate::forward::Repeat;
use crate::render::View;
use serde::Serialize;
use serde::de::DeserializeOwned;
use teamlog_team::api::Op;

// What may stand beside any change. (A doc comment would become the text of every command that takes these.)
#[derive(Debug, clap::Args)]
#[group(skip)]
pub struct Stamp {
    /// The same command under the same key is carried out once, and answered again
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
    /// The story that it belongs to [default: that of what it changes]
    #[arg(long, value_name = "TRACE")]
    trace_id: Option<String>,
}

impl Stamp {
    pub fn carry_out<O>(
        self,
        context: &mut Context,
        team: &str,
        input: O,
        show: fn(&O::Data, &View) -> Vec<String>,
    ) -> Outcome
    where
        O: Op + Serialize + Clone,
        O::Data: DeserializeOwned,
    {
        let answer = self.execute(context, &Call::operation(), team, input)?;
        context.end(Exit::Done, &answer, show)
    }

    /// Carries out a call under the key that was given.
    pub fn execute<I: Serialize + Clone, A: DeserializeOwned>(
        self,
        context: &mut Context,
        call: &Call<I, A>,
        team: &str,
        input: I,
    ) -> Result<A, CommandError> {
        // Without a key the same again would be another change, or be refused for what this one did.
        context.records(Repeat::of_key(self.key.as_deref()));
        let who = Who {
            key: self.key,
            trace_id: self.trace_id,
            ..context.who()
        };
        context.execute_in(Context::data, &who, call, team, input)
    }
}
