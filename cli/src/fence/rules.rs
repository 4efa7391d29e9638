//! Rules of the kernel's Landlock for the places that a command may write.

use super::grounds::Node;
use landlock::{
    ABI, AccessFs, BitFlags, LandlockStatus, PathBeneath, RestrictionStatus, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetError, RulesetStatus, Scope,
};
use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags, fstat, open, openat2};
use std::fs;
use std::os::fd::OwnedFd;
use std::path::Path;

/// First version of Landlock that covers every kind of write, including truncating a file by its name.
const NEEDED: ABI = ABI::V3;

/// First version of Landlock that can block signals to processes outside of the fence.
const SCOPES_SIGNALS: ABI = ABI::V6;

/// Lists a directory for [`super::grounds::WritablePaths::writable`]. An unreadable directory counts as empty.
pub fn listed(dir: &Path) -> Vec<Node> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| {
            let kind = entry.file_type().ok().filter(|kind| !kind.is_symlink())?;
            Some(Node {
                path: entry.path(),
                is_dir: kind.is_dir(),
            })
        })
        .collect()
}

/// Allows writes to `nodes` only, for this thread and its later children. Returns true if the kernel supports
/// [`restrict_signals`].
///
/// # Errors
/// The kernel does not enforce all rules. The error is the reason. The caller must not use the thread after an error.
pub fn restrict(nodes: &[Node]) -> Result<bool, String> {
    let status = restricted(nodes).map_err(refused)?;
    match lacking(&status.landlock, status.ruleset) {
        Some(why) => Err(why),
        None => Ok(scopes_signals(&status.landlock)),
    }
}

/// Forbids signals to processes outside of the fence, for this thread and its later children, if the kernel supports this.
///
/// # Errors
/// The kernel supports the restriction but does not apply it.
pub fn restrict_signals() -> Result<(), String> {
    signals_restricted().map(drop).map_err(refused)
}

fn signals_restricted() -> Result<RestrictionStatus, RulesetError> {
    // Landlock forbids renames and links between directories unless a rule allows them.
    let mut rules = Ruleset::default()
        .handle_access(AccessFs::Refer)?
        .scope(Scope::Signal)?
        .create()?;
    if let Ok(root) = open("/", OFlags::PATH | OFlags::CLOEXEC, Mode::empty()) {
        rules = rules.add_rule(PathBeneath::new(root, AccessFs::Refer))?;
    }
    rules.restrict_self()
}

fn refused(error: RulesetError) -> String {
    format!("the kernel refuses: {error}")
}

fn scopes_signals(landlock: &LandlockStatus) -> bool {
    matches!(landlock, LandlockStatus::Available { effective_abi, .. } if *effective_abi >= SCOPES_SIGNALS)
}

fn restricted(nodes: &[Node]) -> Result<RestrictionStatus, RulesetError> {
    let mut rules = Ruleset::default()
        .handle_access(AccessFs::from_write(NEEDED))?
        .create()?;
    for node in nodes {
        // A place that was removed or replaced after it was listed gets no grant.
        if let Some((place, access)) = opened(node) {
            rules = rules.add_rule(PathBeneath::new(place, access))?;
        }
    }
    rules.restrict_self()
}

/// Opens a place without following symlinks. Returns the opened place, and the rights that can be granted for the place.
fn opened(node: &Node) -> Option<(OwnedFd, BitFlags<AccessFs>)> {
    let flags = OFlags::PATH | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let place = openat2(
        CWD,
        &node.path,
        flags,
        Mode::empty(),
        ResolveFlags::NO_SYMLINKS,
    );
    let place = place.ok()?;
    let writing = AccessFs::from_write(NEEDED);
    let access = match FileType::from_raw_mode(fstat(&place).ok()?.st_mode) {
        FileType::Directory => writing,
        FileType::Symlink => return None,
        _ => writing & AccessFs::from_file(NEEDED),
    };
    Some((place, access))
}

/// Returns the reason if the kernel does not enforce all rules.
fn lacking(landlock: &LandlockStatus, enforced: RulesetStatus) -> Option<String> {
    let why = match landlock {
        LandlockStatus::Available { .. } if enforced == RulesetStatus::FullyEnforced => {
            return None;
        }
        LandlockStatus::Available { effective_abi, .. } => format!(
            "its Landlock must be of version {} (Linux 6.2) or newer, but is of version {}",
            NEEDED as u8, *effective_abi as u8
        ),
        LandlockStatus::NotEnabled => {
            "its Landlock is disabled: add landlock to the list lsm= of the kernel's command line"
                .to_owned()
        }
        LandlockStatus::NotImplemented => {
            "it has no Landlock, which Linux has since 5.13, or a sandbox around this process hides it"
                .to_owned()
        }
    };
    Some(why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_stay_inside_from_version_6_on() {
        let available = |effective_abi| LandlockStatus::Available {
            effective_abi,
            kernel_abi: None,
        };
        assert!(!scopes_signals(&available(ABI::V5)));
        assert!(scopes_signals(&available(ABI::V6)));
        assert!(!scopes_signals(&LandlockStatus::NotEnabled));
    }

    #[test]
    fn a_kernel_that_sees_to_less_than_all_is_told_by_what_it_lacks() {
        let available = |effective_abi| LandlockStatus::Available {
            effective_abi,
            kernel_abi: None,
        };
        assert_eq!(
            lacking(&available(ABI::V3), RulesetStatus::FullyEnforced),
            None
        );
        let old = "version 3 (Linux 6.2) or newer, but is of version 2";
        for (landlock, ruleset, named) in [
            (available(ABI::V2), RulesetStatus::PartiallyEnforced, old),
            (
                LandlockStatus::NotEnabled,
                RulesetStatus::NotEnforced,
                "disabled",
            ),
            (
                LandlockStatus::NotImplemented,
                RulesetStatus::NotEnforced,
                "has no Landlock",
            ),
        ] {
            let why = lacking(&landlock, ruleset).unwrap();
            assert!(why.contains(named), "{why}");
        }
    }
}
