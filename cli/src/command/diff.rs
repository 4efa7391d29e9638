//! `diff`: shows the changes between two points of the log.

use crate::command::prelude::*;
use crate::when::PastPoint;
use teamlog_team::engine::Point;
use teamlog_team::log::points::ReadDiff;

subcommands! {
    operation::<ReadDiff>("diff", render::diff::changes)
        .with(|diff, Points { from, to }, context| {
            diff.from = text(context.point(from)?);
            diff.to = to.map(|to| context.point(to).map(text)).transpose()?;
            Ok(())
        })
        .details("A point is a seq or a time in ISO 8601 and includes its event. A time before the team's creation means its first \
            event. The cost grows with the history before the points.")
        .examples("\
  teamlog diff demo --from 1
  teamlog diff demo --from 1 --to 3 --json")
}

// The two points. Not a doc comment, because clap would print it in the help of the command.
#[derive(Debug, clap::Args)]
#[group(skip)]
struct Points {
    /// Point before the changes
    #[arg(long, value_name = "SEQ|TIME", value_parser = super::point)]
    from: PastPoint,
    /// Point after the changes [default: now]
    #[arg(long, value_name = "SEQ|TIME", value_parser = super::point)]
    to: Option<PastPoint>,
}

/// Formats a point for the input of the operation.
fn text(point: Point) -> String {
    match point {
        Point::Seq(seq) => seq.to_string(),
        Point::Time(time) => time.to_string(),
    }
}
