//! Renders artifacts.

use crate::render::prelude::*;
use teamlog_team::artifact::{
    ArtifactGetAnswer, ArtifactListAnswer, ArtifactPutAnswer, ArtifactShown,
};

/// Formats `stored fix.patch  120 bytes  artifacts/patches/…-fix.patch`.
pub fn stored(answer: &ArtifactPutAnswer, view: &View) -> Vec<String> {
    let (style, word) = match answer.stored {
        true => (Style::Good, "stored"),
        false => (Style::Warn, "there already"),
    };
    vec![format!(
        "{} {}",
        view.paint.show(style, word),
        line(&answer.artifact)
    )]
}

/// Describes an artifact that was written to a file.
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

pub fn all(answer: &ArtifactListAnswer, view: &View) -> Vec<String> {
    let rows = answer.artifacts.iter().map(|one| row(one, view));
    page(rows, "no artifacts", ("more", &answer.next_cursor), view)
}

fn row(artifact: &ArtifactShown, view: &View) -> Vec<Cell> {
    vec![
        styled(Style::Bold, &*artifact.name),
        plain(artifact.kind.name()),
        number(artifact.size.to_string()),
        plain(artifact.worker.as_deref().unwrap_or("-")),
        styled(Style::Dim, view.ago(artifact.stored_at)),
    ]
}
