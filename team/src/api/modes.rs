//! Operations of workflow modes.

use super::operation::Op;
use super::rules::Rules;
use crate::failure::Result;
use crate::handle::team::Team;
use crate::mode::clear::{ModeClear, ModeCleared};
use crate::mode::end::{ModeCancel, ModeComplete, ModeFail};
use crate::mode::rules::shown::ModeAnswer;
use crate::mode::sessions::{ModeEndSession, ModeSessions, SessionEndedAnswer, SessionsAnswer};
use crate::mode::show::{ModeList, ModeListAnswer, ModeShow, ModeShowAnswer};
use crate::mode::start::ModeStart;
use crate::mode::write::{ModeUpdate, ModeWrite};

impl Op for ModeStart {
    type Data = ModeAnswer;
    const NAME: &'static str = "mode-start";
    const DOC: &'static str = "Make a mode active, unless those that are active do not go with it";
    const MUTATES: bool = true;

    fn run(self, team: &mut Team) -> Result<ModeAnswer> {
        team.mode_start(self)
    }
}

impl Op for ModeUpdate {
    type Data = ModeAnswer;
    const NAME: &'static str = "mode-update";
    const DOC: &'static str =
        "Change fields of an active mode; a phase or outcome that ends it does so";
    const MUTATES: bool = true;

    fn run(self, team: &mut Team) -> Result<ModeAnswer> {
        team.mode_update(self)
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

impl Op for ModeClear {
    type Data = ModeCleared;
    const NAME: &'static str = "mode-clear";
    const DOC: &'static str = "Take the state of a mode away, active or not";
    const MUTATES: bool = true;

    fn run(self, team: &mut Team) -> Result<ModeCleared> {
        team.mode_clear(self)
    }
}

impl Op for ModeList {
    type Data = ModeListAnswer;
    const NAME: &'static str = "mode-list";
    const DOC: &'static str =
        "List the states of modes, those of a session before those of the root";
    const MUTATES: bool = false;

    fn run(self, team: &mut Team) -> Result<ModeListAnswer> {
        team.mode_list(self)
    }
}

impl Op for ModeSessions {
    type Data = SessionsAnswer;
    const NAME: &'static str = "mode-sessions";
    const DOC: &'static str = "List the sessions that work in a team";
    const MUTATES: bool = false;

    fn run(self, team: &mut Team) -> Result<SessionsAnswer> {
        team.mode_sessions(self)
    }
}

impl Op for ModeEndSession {
    type Data = SessionEndedAnswer;
    const NAME: &'static str = "mode-end-session";
    const DOC: &'static str = "End a session, and cancel what is active in it";
    const MUTATES: bool = true;

    fn run(self, team: &mut Team) -> Result<SessionEndedAnswer> {
        team.mode_end_session(self)
    }
}

impl Op for ModeShow {
    type Data = ModeShowAnswer;
    const NAME: &'static str = "mode-show";
    const DOC: &'static str = "Read the state of a mode";
    const MUTATES: bool = false;

    fn run(self, team: &mut Team) -> Result<ModeShowAnswer> {
        team.mode_show(self)
    }
}

impl Op for ModeWrite {
    type Data = ModeAnswer;
    const NAME: &'static str = "mode-write";
    const DOC: &'static str =
        "Write the state of a mode, whose outcome decides whether it is active";
    const MUTATES: bool = true;
    const RULES: Rules = Rules {
        keeps_lookalikes: true,
        ..Rules::COMMON
    };

    fn run(self, team: &mut Team) -> Result<ModeAnswer> {
        team.mode_write(self)
    }
}
