//! `diff`: changes between two points of the log.

use crate::command::prelude::*;
use crate::when::Spot;
use teamlog_team::engine::Point;
use teamlog_team::log::points::ReadDiff;

#[derive(Debug, clap::Args)]
#[command(
    long_about = "Show what changed between two points: tasks field by field, inboxes, members\n\nA point is a seq or a time \
        in ISO 8601 and includes its event. A time before the team's creation means its first event. The cost grows with the history before the points.",
    after_help = "\
Examples:
  teamlog diff demo --from 1
  teamlog diff demo --from 1 --to 3 --json"
)]
pub struct Args {
    /// The team
    team: String,
    /// Point before the changes
    #[arg(long, value_name = "SEQ|TIME", value_parser = super::point)]
    from: Spot,
    /// Point after the changes [default: now]
    #[arg(long, value_name = "SEQ|TIME", value_parser = super::point)]
    to: Option<Spot>,
    /// Largest number of tasks; 0 means all [default: 50]
    #[arg(long, value_name = "N", value_parser = super::whole::<usize>)]
    limit: Option<usize>,
    /// `next_cursor` of the previous page
    #[arg(long, value_name = "TASK")]
    cursor: Option<String>,
}

reads!(Args, render::diff::changes, |args, context| ReadDiff {
    from: text(context.point(args.from)?),
    to: args.to.map(|to| context.point(to).map(text)).transpose()?,
    limit: args.limit,
    cursor: args.cursor,
});

/// Writes a point as text for the operation.
fn text(point: Point) -> String {
    match point {
        Point::Seq(seq) => seq.to_string(),
        Point::Time(time) => time.to_string(),
    }
}
