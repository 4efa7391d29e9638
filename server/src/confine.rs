//! What the daemon may write, held to by the kernel: the data root, its socket's directory, and nothing else. Reads are
//! free. A kernel that cannot see to all of it sees to none.

use landlock::{
    ABI, AccessFs, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetError, RulesetStatus, path_beneath_rules,
};
use std::path::PathBuf;

/// What anybody may throw things into.
const NOWHERE: &str = "/dev/null";

/// Confines this thread, and all that it starts from now on; whether the kernel sees to it.
pub(crate) fn confine(writable: &[PathBuf]) -> Result<bool, RulesetError> {
    let writing = AccessFs::from_write(ABI::V3);
    let mut rules = Ruleset::default()
        // Without it, files could not be renamed from one directory into another.
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
