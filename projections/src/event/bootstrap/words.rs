//! Enumerations of the bootstrap contract, as stored and shown.

use crate::event::*;

words! {
    /// State of a run, in order; `FALLBACK` is the alternative end.
    #[derive(Default)]
    pub enum State in json {
        /// No attempt to create a team was made.
        #[default]
        Init = "INIT",
        /// The attempt to create a team returned.
        TeamProbed = "TEAM_PROBED",
        /// The team exists and its name is known.
        TeamReady = "TEAM_READY",
        /// The roster is known.
        MembersReady = "MEMBERS_READY",
        /// All members were launched at once; the handshake with the core is in progress.
        CoreReady = "CORE_READY",
        /// The team works.
        Running = "RUNNING",
        /// No team exists; the run ended.
        Fallback = "FALLBACK",
    }
}

words! {
    /// Outcome of the attempt to create a team
    pub enum Outcome in json {
        /// The team was created.
        Ok = "ok",
        /// The caller already leads a team.
        AlreadyLeading = "already_leading",
        /// The platform has no teams.
        Unavailable = "unavailable",
        /// An answer of another kind.
        Unrecognised = "unrecognised",
    }
}

words! {
    /// Branch selected by the outcome
    pub enum Case in json {
        /// Work with the created team.
        A = "A",
        /// Work with the team that the caller already leads.
        B = "B",
        /// End in the fallback.
        C = "C",
    }
}

words! {
    /// Ways to launch a whole team
    pub enum Method in json {
        /// One call that launches all members.
        TeamApi = "team_api",
        /// A text that the platform turns into a team.
        PlatformNlTeamInvocation = "platform_nl_team_invocation",
    }
}

words! {
    /// A core member
    pub enum Core in json {
        /// The reviewer.
        Obstruction = "obstruction-theorist",
        /// The member that writes the final synthesis.
        Synthesizer = "synthesizer",
    }
}

words! {
    /// Verdict of a review
    pub enum Verdict in json {
        /// The result is accepted.
        Pass = "PASS",
        /// The result must be revised.
        Revise = "REVISE",
        /// The result is rejected.
        Reject = "REJECT",
    }
}

impl Outcome {
    /// Returns true if the outcome leaves a team to work with.
    pub fn is_usable(self) -> bool {
        matches!(self, Outcome::Ok | Outcome::AlreadyLeading)
    }
    /// Returns the branch that the outcome selects; `None` for an unrecognised outcome.
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
    /// Returns the signal by which the core member reports that it is ready.
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
