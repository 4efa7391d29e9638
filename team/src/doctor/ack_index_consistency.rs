//! Acks in the message index and unread counts, held against every ack of the log.

use super::scene::Scene;
use super::{Check, findings};

const NAME: &str = "ack_index_consistency";

pub(super) fn check(scene: &Scene<'_>) -> Check {
    match &scene.audit {
        Ok(audit) => findings(NAME, &audit.acks, "acks and counts", scene),
        Err(why) => Check::not_made(NAME, why),
    }
}
