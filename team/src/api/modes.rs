//! Operations of workflow modes.

use super::operation::Op;
use crate::command::mode_end::{ModeCancel, ModeComplete, ModeFail};
use crate::command::mode_start::ModeStart;
use crate::failure::Result;
use crate::modes::outcome::Reading;
use crate::modes::prompt::answer::PromptAnswer;
use crate::modes::shown::ModeAnswer;
use crate::modes::transition::Transition;
use crate::team::Team;

impl Op for ModeStart {
    type Data = ModeAnswer;
    const NAME: &'static str = "mode-start";
    const DOC: &'static str = "Make a mode active, unless those that are active do not go with it";
    const MUTATES: bool = true;

    fn run(self, team: &mut Team) -> Result<ModeAnswer> {
        team.mode_start(self)
    }
}

impl Op for ModeComplete {
    type Data = ModeAnswer;
    const NAME: &'static str = "mode-complete";
    const DOC: &'static str = "Complete an active mode";
    const MUTATES: bool = true;

    fn run(self, team: &mut Team) -> Result<ModeAnswer> {
        team.mode_complete(self)
    }
}

impl Op for ModeFail {
    type Data = ModeAnswer;
    const NAME: &'static str = "mode-fail";
    const DOC: &'static str = "Say that an active mode failed";
    const MUTATES: bool = true;

    fn run(self, team: &mut Team) -> Result<ModeAnswer> {
        team.mode_fail(self)
    }
}

impl Op for ModeCancel {
    type Data = ModeAnswer;
    const NAME: &'static str = "mode-cancel";
    const DOC: &'static str = "Cancel an active mode, and what it is linked to";
    const MUTATES: bool = true;

    fn run(self, team: &mut Team) -> Result<ModeAnswer> {
        team.mode_cancel(self)
    }
}

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
