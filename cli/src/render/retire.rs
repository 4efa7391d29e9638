//! Renders the retirement of an agent.

use crate::render::event::said_text;
use crate::render::prelude::*;
use teamlog_team::ownership::retire::RetireAnswer;

pub fn retired(answer: &RetireAnswer, view: &View) -> Vec<String> {
    let agent = visible(&answer.agent);
    let (done, pending) = match (answer.dry_run, &answer.successor) {
        (true, None) => ("would retire", "would be"),
        (true, Some(_)) => ("would rename", "would be"),
        (false, None) => ("retired", "are"),
        (false, Some(_)) => ("renamed", "are"),
    };
    let new = answer.successor.as_deref().map(visible);
    let to = new.as_ref().map(|new| format!(" to {new}"));
    let heir = new.as_deref().unwrap_or("any agent");
    let done = view.paint.show(Style::Good, done);
    let mut shown = vec![format!("{done} {agent}{}", to.unwrap_or_default())];
    let mut list = |words: String, ids: &[String]| {
        if !ids.is_empty() {
            shown.push(format!("  {words}: {}", visible(&ids.join(", "))));
        }
    };
    list(format!("tasks that {pending} for {heir}"), &answer.tasks);
    list(
        format!("claims that {pending} ended, of tasks"),
        &answer.taken,
    );
    list(
        format!("tokens that {pending} revoked"),
        &answer.tokens_revoked,
    );
    if let Some(leader) = answer.leader.as_deref().map(visible) {
        shown.push(format!(
            "  {agent} led the team: {leader} gets messages to the leader from now on"
        ));
    }
    if answer.unread > 0 {
        let unread = time::plural(answer.unread, "unread message");
        shown.push(format!("  {unread} in the inbox of {agent}:"));
        let rows = answer.mail.iter().map(|mail| {
            vec![
                styled(Style::Bold, &mail.id),
                plain(&mail.from),
                styled(Style::Dim, view.ago(mail.created_at)),
                free_text(Style::Plain, said_text(mail.payload.as_str())),
            ]
        });
        shown.extend(lines(rows, 4, view));
    }
    shown
}
