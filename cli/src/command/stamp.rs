//! Options of every command that records: idempotency key and trace.

use crate::call::{Call, CallerIdentity};
use crate::context::Context;
use crate::exit::{CommandError, Exit, Outcome};
use crate::forward::Repeat;
use crate::render::View;
use serde::Serialize;
use serde::de::DeserializeOwned;
use teamlog_team::api::Op;

// Options of every command that records. Not a doc comment, because clap would print it in the help of each command.
#[derive(Debug, clap::Args)]
#[group(skip)]
pub struct Stamp {
    /// Idempotency key: the same command with the same key runs once; a repeat returns the first answer
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
    /// Trace of the change [default: the trace of the changed object]
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

    /// Carries out a call under the idempotency key of these options.
    pub fn execute<I: Serialize + Clone, A: DeserializeOwned>(
        self,
        context: &mut Context,
        call: &Call<I, A>,
        team: &str,
        input: I,
    ) -> Result<A, CommandError> {
        // A repeat without a key would record a second change, or would be refused because of the first change.
        context.records(Repeat::of_key(self.key.as_deref()));
        let who = CallerIdentity {
            key: self.key,
            trace_id: self.trace_id,
            ..context.who()
        };
        context.execute_in(Context::data, &who, call, team, input)
    }
}
