//! The file system: local, so that locks exclude and syncs reach a disk.

use super::*;
use teamlog_engine::storage::FileSystemKind;

pub(super) fn check(seen: &Observed<'_>) -> Seen<Check> {
    match seen.root.file_system() {
        None => Ok(Check::healthy("the data root lies in memory")),
        Some(kind) => Ok(judge(&kind.map_err(said)?)),
    }
}

fn judge(kind: &FileSystemKind) -> Check {
    match kind {
        FileSystemKind::Local => Check::healthy("local").details(json!({"kind": "local"})),
        FileSystemKind::Network(name) => {
            let summary =
                format!("the data root lies on {name}, where locks and syncs cannot be trusted");
            Check::unhealthy(summary).details(json!({"kind": name}))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Health;
    use super::*;

    #[test]
    fn a_network_is_unhealthy() {
        assert_eq!(judge(&FileSystemKind::Local).status, Health::Healthy);
        let nfs = judge(&FileSystemKind::Network("nfs".into()));
        assert_eq!(nfs.status, Health::Unhealthy);
        assert!(nfs.summary.contains("nfs"));
    }
}
