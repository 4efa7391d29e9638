//! The message index against inboxes and inbox files, by a sample of messages.

use super::scene::Scene;
use super::{Check, findings};

const NAME: &str = "index_inbox_sample_consistency";

pub(super) fn check(scene: &Scene<'_>) -> Check {
    match &scene.audit {
        Ok(audit) => findings(NAME, &audit.inbox, "lookups of messages", scene),
        Err(why) => Check::not_made(NAME, why),
    }
}
