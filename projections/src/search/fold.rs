//! The fold of messages, threads and posts into postings. The fold of tasks writes the postings of tasks.

use super::{Document, TEXT_TERMS};
use crate::prelude::*;
use crate::terms::{TermKind, post};

pub(crate) fn apply(tx: &mut Tx<'_>, recorded: Recorded<'_>) -> Result<()> {
    let event = recorded.event;
    let Some(document) = Document::from_event(event, recorded.fact) else {
        return Ok(());
    };
    let kind = document.kind;
    post(tx, TEXT_TERMS, (TermKind::Kind, kind.name()), event.seq);
    post(tx, TEXT_TERMS, (TermKind::By, &document.by), event.seq);
    for word in document.words().distinct() {
        post(tx, TEXT_TERMS, (TermKind::Word, word), event.seq);
    }
    Ok(())
}
