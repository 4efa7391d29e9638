//! `diff`: what changed between two points of the log.

use crate::command::prelude::*;
use crate::when::Spot;
use teamlog_team::engine::Point;
use teamlog_team::log::points::ReadDiff;

#[derive(Debug, clap::Args)]
#[command(
    long_about = "Show what changed between two points: tasks field by field, inboxes, members\n\nA point is a seq or a time \
        in ISO 8601, and counts with its event. A time before the team began means its first event. The cost grows with the history before the points.",
    after_help = "\
Examples:
  teamlog diff demo --from 1
  teamlog diff demo --from 1 --to 3 --json"
)]
pub struct Args {
    /// The team
    team: String,
    /// Where it begins
    #[arg(long, value_name = "SEQ|TIME", value_parser = super::point)]
    from: Spot,
    /// Where it ends [default: now]
    #[arg(long, value_name = "SEQ|TIME", value_parser = super::point)]
    to: Option<Spot>,
    /// Most tasks on the page; 0 is all [default: 50]
    #[arg(long, value_name = "N", value_parser = super::whole::<usize>)]
    limit: Option<usize>,
    /// Go on: the next_cursor of the page before
    #[arg(long, value_name = "TASK")]
    cursor: Option<String>,
}

reads!(Args, render::diff::changes, |args, context| ReadDiff {
    from: text(context.point(args.from)?),
    to: args.to.map(|to| context.point(to).map(text)).transpose()?,
    limit: args.limit,
    cursor: args.cursor,
});

/// A point as the question takes it.
fn text(point: Point) -> String {
    match point {
        Point::Seq(seq) => seq.to_string(),
        Point::Time(time) => time.to_string(),
    }
}
