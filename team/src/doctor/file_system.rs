//! The file system: local, so that locks exclude and syncs reach a disk.

use super::scene::Scene;
use super::{Check, Health};
use teamlog_engine::storage::FileSystemKind;

const NAME: &str = "file_system";

pub(super) fn check(scene: &Scene<'_>) -> Check {
    match scene.root.file_system() {
        None => Check::healthy(NAME, "the data root lies in memory"),
        Some(Ok(kind)) => judge(&kind),
        Some(Err(error)) => Check::not_made(NAME, &error.to_string()),
    }
}

fn judge(kind: &FileSystemKind) -> Check {
    match kind {
        FileSystemKind::Local => Check::healthy(NAME, "local").detail("kind", "local"),
        FileSystemKind::Network(name) => {
            let summary =
                format!("the data root lies on {name}, where locks and syncs cannot be trusted");
            Check::new(NAME, Health::Unhealthy, summary).detail("kind", name.as_str())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_is_unhealthy() {
        assert_eq!(judge(&FileSystemKind::Local).status, Health::Healthy);
        let nfs = judge(&FileSystemKind::Network("nfs".into()));
        assert_eq!(nfs.status, Health::Unhealthy);
        assert!(nfs.summary.contains("nfs"));
    }
}
