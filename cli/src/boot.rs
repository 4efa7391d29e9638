//! Reads the boot id, which changes with each start of the machine.

use std::sync::OnceLock;

/// Returns the boot id, or `None` if the system has none. Reads the id once per process.
pub fn id() -> Option<[u8; 16]> {
    static ID: OnceLock<Option<[u8; 16]>> = OnceLock::new();
    *ID.get_or_init(|| {
        let text = std::fs::read("/proc/sys/kernel/random/boot_id").ok()?;
        teamlog_team::engine::internals::uuid::from_text(text.trim_ascii())
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_id_stays_for_as_long_as_the_machine_runs() {
        assert_eq!(super::id(), super::id());
        assert!(super::id().is_some());
    }
}
