//! The words of the bootstrap contract, as they are stored and shown.

use crate::event::*;

words! {
    /// How far a run is, in order; `FALLBACK` is the other end.
    #[derive(Default)]
    pub enum State in json {
        /// Nothing was tried.
        #[default]
        Init = "INIT",
        /// The attempt to create a team returned.
        TeamProbed = "TEAM_PROBED",
        /// There is a team, and its name is known.
        TeamReady = "TEAM_READY",
        /// It is known whom to launch.
        MembersReady = "MEMBERS_READY",
        /// All were launched at once; the handshake with the core is under way.
        CoreReady = "CORE_READY",
        /// The team works.
        Running = "RUNNING",
        /// There is no team; the run ended here.
        Fallback = "FALLBACK",
    }
}

words! {
    /// What the attempt to create a team gave
    pub enum Outcome in json {
        /// A team of that name.
        Ok = "ok",
        /// The caller leads one already.
        AlreadyLeading = "already_leading",
        /// There are no teams here.
        Unavailable = "unavailable",
        /// Something that says none of that.
        Unrecognised = "unrecognised",
    }
}

words! {
    /// The branch that an outcome leads to
    pub enum Case in json {
        /// The team was created.
        A = "A",
        /// The team that is led already.
        B = "B",
        /// No team.
        C = "C",
    }
}

words! {
    /// How a whole team can be launched
    pub enum Method in json {
        /// By a call that launches all members.
        TeamApi = "team_api",
        /// By words that the platform turns into a team.
        PlatformNlTeamInvocation = "platform_nl_team_invocation",
    }
}

words! {
    /// A member of the core
    pub enum Core in json {
        /// Who reviews.
        Obstruction = "obstruction-theorist",
        /// Who puts everything together.
        Synthesizer = "synthesizer",
    }
}

words! {
    /// What a review found
    pub enum Verdict in json {
        /// It holds.
        Pass = "PASS",
        /// It has to be revised.
        Revise = "REVISE",
        /// It does not hold.
        Reject = "REJECT",
    }
}

impl Outcome {
    /// Whether there is a team to work with.
    pub fn is_usable(self) -> bool {
        matches!(self, Outcome::Ok | Outcome::AlreadyLeading)
    }
    /// The branch that it leads to; none where it says nothing.
    pub fn case(self) -> Option<Case> {
        match self {
            Outcome::Ok => Some(Case::A),
            Outcome::AlreadyLeading => Some(Case::B),
            Outcome::Unavailable => Some(Case::C),
            Outcome::Unrecognised => None,
        }
    }
}

impl Core {
    /// Its signal that it is ready.
    pub fn ready_signal(self) -> &'static str {
        match self {
            Core::Obstruction => "OBSTRUCTION_CORE_READY_ACK",
            Core::Synthesizer => "SYNTHESIZER_CORE_READY_ACK",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_read_as_they_are_written_in_any_case() {
        for state in State::ALL {
            let text = serde_json::to_string(&state).unwrap();
            assert_eq!(text, format!("{:?}", state.name()));
            assert_eq!(
                State::from_any_case(&state.name().to_lowercase()),
                Some(state)
            );
        }
        assert_eq!(Verdict::from_any_case("pass"), Some(Verdict::Pass));
        assert_eq!(Core::from_any_case("lead"), None);
        assert!(State::Init < State::Running && State::Running < State::Fallback);
    }
}
