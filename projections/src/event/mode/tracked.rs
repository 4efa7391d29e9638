//! The modes that are tracked.

use crate::event::*;

words! {
    /// A tracked workflow mode. Modes are listed in this order.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    #[derive(rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
    pub enum Mode {
        /// Plans, executes and reviews in cycles.
        Autopilot = "autopilot",
        /// Researches without a human.
        Autoresearch = "autoresearch",
        /// Runs several agents at once.
        Team = "team",
        /// Works until the result is verified.
        Forge = "forge",
        /// Runs many small jobs at once; may be active with every other mode.
        Ultrawork = "ultrawork",
        /// Tests and fixes in cycles.
        Ultraqa = "ultraqa",
        /// Plans, and has the plan reviewed before execution.
        Blueprint = "blueprint",
        /// Asks questions before planning.
        DeepInterview = "deep-interview",
    }
}

impl Mode {
    /// Returns the mode's number in the keys of rows. The number never changes, and does not give the order of modes.
    pub(crate) fn number(self) -> u8 {
        match self {
            Mode::Autopilot => 1,
            Mode::Autoresearch => 2,
            Mode::Team => 3,
            Mode::Forge => 4,
            Mode::Ultrawork => 5,
            Mode::Ultraqa => 6,
            Mode::Blueprint => 7,
            Mode::DeepInterview => 8,
        }
    }
    /// Returns true for a planning mode; every other mode executes.
    pub fn plans(self) -> bool {
        matches!(
            self,
            Mode::DeepInterview | Mode::Blueprint | Mode::Autoresearch
        )
    }
    /// Returns true if the mode locks input, so that a short prompt does not answer an interview for the user.
    pub fn locks_input(self) -> bool {
        self == Mode::DeepInterview
    }
}

impl std::fmt::Display for Mode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_reads_back_and_stands_in_json_as_it_is() {
        for mode in Mode::ALL {
            assert_eq!(Mode::from_name(mode.name()), Some(mode));
            assert_eq!(
                serde_json::to_string(&mode).unwrap(),
                format!("{:?}", mode.name())
            );
        }
        assert_eq!(Mode::from_name("Forge"), None);
        assert_eq!(Mode::from_name("crew"), None);
    }

    #[test]
    fn three_modes_plan() {
        let planning: Vec<&str> = Mode::ALL
            .into_iter()
            .filter(|mode| mode.plans())
            .map(Mode::name)
            .collect();
        assert_eq!(planning, ["autoresearch", "blueprint", "deep-interview"]);
    }
}
