//! What every change of a team's state has in common: the key under which it is asked for, the story that it belongs to,
//! and the way to its answer.

use crate::context::{Context, Unknown};
use crate::exit::{CommandError, Exit};
use crate::render::View;
use serde::Serialize;
use serde_json::{Map, Value};
use teamlog_team::handle::command::Control;
use teamlog_team::{Result, Team};

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
    /// Carries out the operation of that name, answers, and hands over the answer.
    ///
    /// # Errors
    /// The operation's; standard output failed.
    pub fn carry_out<I: Serialize, A: Serialize>(
        self,
        context: &mut Context,
        (team, operation): (&str, &str),
        input: I,
        run: impl FnOnce(&mut Team, I) -> Result<A>,
        show: fn(&A, &View) -> Vec<String>,
    ) -> std::result::Result<A, CommandError> {
        // Without a key the same again would be another change, or be refused for what this one did.
        context.records(match self.key {
            Some(_) => Unknown::Repeat,
            None => Unknown::Look,
        });
        let mut handle = context.team(team)?;
        handle.under(Control {
            operation: operation.to_owned(),
            request: self.request(team, &input),
            key: self.key,
            trace_id: self.trace_id,
            actor: context.actor(),
            user: Some(context.user()),
            origin: context.origin(),
            ..Control::default()
        });
        let answer = run(&mut handle, input)?;
        context.replays(handle.repeated());
        context.answer(&answer, show)?;
        context.done(handle, Exit::Done)?;
        Ok(answer)
    }

    /// What identifies the request under its key: the bytes of the operation's input, which are the same whichever way
    /// the operation is asked for.
    fn request(&self, team: &str, input: &impl Serialize) -> Vec<u8> {
        let mut fields = match serde_json::to_value(input) {
            Ok(Value::Object(fields)) => fields,
            _ => Map::new(),
        };
        fields.insert("team_name".to_owned(), team.into());
        if let Some(trace) = &self.trace_id {
            fields.insert("trace_id".to_owned(), trace.as_str().into());
        }
        serde_json::to_vec(&fields).unwrap_or_default()
    }
}
