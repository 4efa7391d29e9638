//! `mode write`: a state as a whole, or in part, by the rules that all states keep.

use crate::command::session::SessionScope;
use crate::command::stamp::Stamp;
use crate::context::Context;
use crate::exit::{Exit, Outcome};
use crate::given;
use crate::render::mode;
use teamlog_team::mode::write::ModeWrite;

/// Write fields of the state of a mode, which may start it, hand over to it or end it
#[derive(Debug, clap::Args)]
#[command(
    long_about = "Write fields of the state of a mode, which may start it, hand over to it or end it\n\nThe input is a JSON \
        object {mode, session_id?, state{}?, …}; whatever else it holds are fields of the state, and those in `state` \
        count before them. A state that becomes active does so by the rules of `mode start`; one whose phase or outcome \
        is final ends.",
    after_help = "\
Examples:
  teamlog mode write demo --input '{\"mode\":\"ultrawork\",\"active\":true,\"current_phase\":\"planning\"}'
  teamlog mode write demo ultrawork --input '{\"current_phase\":\"executing\"}' --json"
)]
pub struct Write {
    /// The team
    team: String,
    /// The mode, unless the input names it
    #[arg(value_name = "MODE")]
    mode: Option<String>,
    #[command(flatten)]
    scope: SessionScope,
    /// What to write, a JSON object
    #[arg(long, value_name = "JSON|@FILE|-")]
    input: String,
    #[command(flatten)]
    stamp: Stamp,
}

impl Write {
    pub fn run(self, context: &mut Context) -> Outcome {
        let mut input = given::object(context.env(), "input", &self.input)?;
        self.scope.put_into(&mut input, context)?;
        given::named(&mut input, "mode", self.mode)?;
        let input: ModeWrite = given::typed(input)?;
        self.stamp
            .carry_out(context, &self.team, input, mode::stands)?;
        Ok(Exit::Done)
    }
}
