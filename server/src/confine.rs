//! Landlock confinement of the daemon: it may write only the data root and its socket's directory. Reads are not
//! restricted. A kernel that cannot enforce all of it enforces none.

use landlock::{
    ABI, AccessFs, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetError, RulesetStatus, path_beneath_rules,
};
use std::path::PathBuf;

/// Also writable: output may be discarded here.
const NOWHERE: &str = "/dev/null";

/// Confines this thread and all threads that it starts later; returns true if the kernel enforces it.
pub(crate) fn confine(writable: &[PathBuf]) -> Result<bool, RulesetError> {
    let writing = AccessFs::from_write(ABI::V3);
    let mut rules = Ruleset::default()
        // Without this right, files could not be renamed from one directory into another.
        .set_compatibility(CompatLevel::SoftRequirement)
        .handle_access(AccessFs::Refer)?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(writing)?
        .create()?
        .add_rules(path_beneath_rules(writable, writing))?;
    if let Ok(nowhere) = PathFd::new(NOWHERE) {
        rules = rules.add_rule(PathBeneath::new(nowhere, AccessFs::WriteFile))?;
    }
    Ok(rules.restrict_self()?.ruleset != RulesetStatus::NotEnforced)
}
