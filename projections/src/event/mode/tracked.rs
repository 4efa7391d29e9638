//! The modes that are tracked.

use crate::event::*;

words! {
    /// A tracked workflow mode. The order is the canonical one, in which modes are listed.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    #[derive(rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
    pub enum Mode {
        /// From a plan to reviewed code, in cycles.
        Autopilot = "autopilot",
        /// Research without a human.
        Autoresearch = "autoresearch",
        /// Several agents at once.
        Team = "team",
        /// Work until it is verified.
        Forge = "forge",
        /// Many small jobs at once; goes with every other mode.
        Ultrawork = "ultrawork",
        /// Tests and mends in cycles.
        Ultraqa = "ultraqa",
        /// A plan, reviewed before anything is built.
        Blueprint = "blueprint",
        /// Questions before a plan.
        DeepInterview = "deep-interview",
    }
}

impl Mode {
    /// Returns its number in the keys of rows; not the order of anything, and never changed.
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
    /// Whether it plans; every other one executes.
    pub fn plans(self) -> bool {
        matches!(
            self,
            Mode::DeepInterview | Mode::Blueprint | Mode::Autoresearch
        )
    }
    /// Whether input that would answer for the user is locked while it is active.
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
