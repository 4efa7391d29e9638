//! The list of all projections, and their common fold version.

use crate::fact::Projection;
use crate::{
    agent_token, artifact, bootstrap, delivery, feed, message, mode, refused, response, script,
    search, task, team, thread, usage, worker,
};

/// The version of the whole fold. Hosts of one log compare this version, and each version has its own derived store.
///
/// Add one if the version of a projection or of the event index, [`PROJECTIONS`] or `derived::VERSION` changes, and set `FOLD_DIGEST` to the value that
/// the test below prints. If two branches change different projections, they conflict in these two lines: choose a number above
/// both numbers.
pub(crate) const FOLD_VERSION: u32 = 39;

/// BLAKE3 of the projections' names and versions at [`FOLD_VERSION`].
#[cfg(test)]
const FOLD_DIGEST: &str = "976ead5dbc3ba6f1d71387ebf6a9e2f0";

/// Every projection. Their namespaces are disjoint.
pub(crate) const PROJECTIONS: [Projection; 16] = [
    Projection::new("team", 8, team::apply),
    Projection::new("message", 7, message::apply),
    Projection::new("task", 13, task::apply),
    Projection::new("delivery", 3, delivery::apply),
    Projection::new("worker", 4, worker::apply),
    Projection::new("response", 3, response::apply),
    Projection::new("mode", 2, mode::apply),
    Projection::new("bootstrap", 3, bootstrap::apply),
    Projection::new("thread", 3, thread::apply),
    Projection::new("feed", 2, feed::apply),
    Projection::new("usage", 1, usage::apply),
    Projection::new("artifact", 1, artifact::apply),
    Projection::new("refused", 1, refused::apply),
    Projection::new("agent_token", 1, agent_token::apply),
    Projection::new("search", 1, search::apply),
    Projection::new("script", 1, script::apply),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event_index::EVENT_INDEX_VERSION;
    use std::fmt::Write;
    use teamlog_engine::internals::derived;

    #[test]
    fn the_fold_version_changes_with_the_projections() {
        let mut text = format!("fold {FOLD_VERSION}\nstore {}\n", derived::VERSION);
        writeln!(text, "event_index {EVENT_INDEX_VERSION}").unwrap();
        for Projection { name, version, .. } in PROJECTIONS {
            writeln!(text, "{name} {version}").unwrap();
        }
        let digest = blake3::hash(text.as_bytes()).to_hex();
        assert_eq!(
            &digest[..32],
            FOLD_DIGEST,
            "the versions of the projections or FOLD_VERSION changed: add one to the FOLD_VERSION of the main branch \
             and set FOLD_DIGEST to the digest on the left. The text is:\n{text}"
        );
    }
}
