//! Events of durable subscriptions.

use super::problem::Problem;
use super::request::RequestContext;
use teamlog_team::Team;
use teamlog_team::command::Control;
use teamlog_team::story::sentence::add_sentences;
use teamlog_team::subscription::fetch::{FetchAnswer, FetchSubscription};

/// `POST /v1/subscriptions/{name}/fetch`. The wait ends when the client disconnects.
pub fn fetch(
    asked: FetchSubscription,
    team: &mut Team,
    request: &RequestContext<'_>,
) -> Result<FetchAnswer, Problem> {
    team.under(Control {
        deadline: request.call.deadline.clone(),
        ..Control::default()
    });
    let mut answer = team.fetch_subscription(&asked)?;
    for delivered in &mut answer.events {
        add_sentences(std::slice::from_mut(&mut delivered.event));
    }
    Ok(answer)
}
