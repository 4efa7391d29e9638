//! Operations of workflow modes.

use super::operation::Op;
use crate::command::mode_end::{ModeCancel, ModeComplete, ModeFail};
use crate::command::mode_start::ModeStart;
use crate::failure::Result;
use crate::modes::shown::ModeAnswer;
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
