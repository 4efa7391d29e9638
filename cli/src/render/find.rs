//! Renders the matches of a search: one line each, at most a screen.

use crate::render::prelude::*;
use teamlog_team::search::{SearchAnswer, SearchHit};

/// Number of matches on a screen.
const SCREEN_HITS: usize = 20;

pub fn page(answer: &SearchAnswer, view: &View) -> Vec<String> {
    if answer.hits.is_empty() {
        return nothing(answer);
    }
    let most = match view.whole {
        true => usize::MAX,
        false => SCREEN_HITS,
    };
    let rows = answer.hits.iter().take(most).map(|hit| row(hit, view));
    let mut shown = lines(rows, 0, view);
    match answer.hits.len().saturating_sub(most) {
        0 => shown.extend(more("more", &answer.next_cursor)),
        left if answer.next_cursor.is_some() => shown.push(format!("{left} or more: --all")),
        left => shown.push(format!("{left} more: --all")),
    }
    shown
}

/// Describes a search without a match: the query, the team and the point of the log.
fn nothing(answer: &SearchAnswer) -> Vec<String> {
    let query = visible(&answer.query);
    let mut shown = vec![match &answer.next_cursor {
        None => format!(
            "nothing matches {query} in the tasks, messages, threads and posts of team {} up to event {}",
            visible(&answer.team),
            answer.events
        ),
        Some(_) => format!(
            "nothing matches {query} in the newest texts of team {}",
            visible(&answer.team)
        ),
    }];
    shown.extend(more("older", &answer.next_cursor));
    shown
}

fn row(hit: &SearchHit, view: &View) -> Vec<Cell> {
    let id = match (&*hit.kind, &hit.thread_id) {
        ("post" | "comment", Some(thread)) => thread.clone(),
        // Other commands take the seq of an event, too, and it is shorter than the id.
        ("event", _) => hit.seq.to_string(),
        _ => hit.id.clone(),
    };
    let agent = hit.by.as_ref().or(hit.to.first());
    let title = hit.title.as_deref().or(hit.excerpt.as_deref());
    let text = match &*hit.kind {
        "event" => format!(
            "{} [{}] {}",
            title.unwrap_or_default(),
            hit.tags.join(" "),
            hit.excerpt.as_deref().unwrap_or_default()
        ),
        _ => title.unwrap_or_default().to_owned(),
    };
    vec![
        styled(Style::Dim, &hit.kind),
        styled(Style::Bold, id),
        styled(Style::Dim, view.ago(hit.created_at)),
        plain(agent.map_or("-", String::as_str)),
        free_text(Style::Plain, text.trim_end()),
    ]
}
