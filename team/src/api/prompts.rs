//! Operations of prompts, and those that say what would become of a mode or how its state reads.

use super::operation::Op;
use crate::failure::Result;
use crate::handle::team::Team;
use crate::mode::explain::ModeExplain;
use crate::mode::outcome::ModeOutcome;
use crate::mode::prompt::ModePrompt;
use crate::mode::rules::prompt::answer::PromptAnswer;
use crate::mode::rules::reading::Reading;
use crate::mode::rules::transition::Transition;

impl Op for ModePrompt {
    type Data = PromptAnswer;
    const NAME: &'static str = "mode-prompt";
    const DOC: &'static str = "Carry out what a prompt asks for: all of its skills, or none";
    const MUTATES: bool = true;

    fn run(self, team: &mut Team) -> Result<PromptAnswer> {
        team.mode_prompt(self)
    }
}

impl Op for ModeExplain {
    type Data = Transition;
    const NAME: &'static str = "mode-explain";
    const DOC: &'static str = "Say what would become of making a mode active, without doing it";
    const MUTATES: bool = false;

    fn run(self, team: &mut Team) -> Result<Transition> {
        team.mode_explain(self)
    }
}

impl Op for ModeOutcome {
    type Data = Reading;
    const NAME: &'static str = "mode-outcome";
    const DOC: &'static str = "Read from a state whether its mode ended, and how";
    const MUTATES: bool = false;

    fn run(self, team: &mut Team) -> Result<Reading> {
        team.mode_outcome(self)
    }
}
