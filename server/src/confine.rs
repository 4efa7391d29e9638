//! Confines the daemon with Landlock, so that it can write only in the data root and in the directory of its socket. Reads are not
//! restricted. If the kernel cannot enforce every rule, it enforces none.

use landlock::{
    ABI, AccessFs, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetError, RulesetStatus, path_beneath_rules,
};
use std::path::PathBuf;

/// A path that stays writable, because programs discard output there.
const NOWHERE: &str = "/dev/null";

/// Confines this thread and all threads that it starts later. Returns true if the kernel enforces the rules.
pub(crate) fn confine(writable: &[PathBuf]) -> Result<bool, RulesetError> {
    let writing = AccessFs::from_write(ABI::V3);
    let mut rules = Ruleset::default()
        // This right is needed for renaming files between directories.
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
