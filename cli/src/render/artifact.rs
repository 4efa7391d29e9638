//! Artifacts: what became of one, and all of them.

use crate::render::prelude::*;
use teamlog_team::artifact::{
    ArtifactGetAnswer, ArtifactListAnswer, ArtifactPutAnswer, ArtifactShown,
};

/// `stored fix.patch  120 bytes  artifacts/patches/…-fix.patch`.
pub fn stored(answer: &ArtifactPutAnswer, view: &View) -> Vec<String> {
    let word = match answer.stored {
        true => view.paint.show(Style::Good, "stored").to_string(),
        false => view.paint.show(Style::Warn, "there already").to_string(),
    };
    vec![format!("{word} {}", line(&answer.artifact))]
}

/// What was written to a file.
pub fn got(answer: &ArtifactGetAnswer, _: &View) -> Vec<String> {
    vec![line(&answer.artifact)]
}

fn line(artifact: &ArtifactShown) -> String {
    format!(
        "{}  {} bytes  {}",
        visible(&artifact.name),
        artifact.size,
        visible(&artifact.path)
    )
}

pub fn page(answer: &ArtifactListAnswer, view: &View) -> Vec<String> {
    let mut shown = lines(answer.artifacts.iter().map(|one| row(one, view)), 0, view);
    if shown.is_empty() {
        shown.push("no artifacts".to_owned());
    }
    shown.extend(more("more", &answer.next_cursor));
    shown
}

fn row(artifact: &ArtifactShown, view: &View) -> Vec<Cell> {
    let when = view.ago_of(&artifact.stored_at);
    vec![
        styled(Style::Bold, &*artifact.name),
        plain(artifact.kind.name()),
        number(artifact.size.to_string()),
        plain(artifact.worker.as_deref().unwrap_or("-")),
        styled(Style::Dim, when),
    ]
}
