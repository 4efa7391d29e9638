//! `deliveries`: messages that wait for their ack.

use crate::command::prelude::*;
use teamlog_team::message::deliveries::DeliveryList;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog deliveries demo
  teamlog deliveries demo --limit 20 --json
  teamlog deliveries demo --at 3                            as they were then")]
pub struct Args {
    /// The team
    team: String,
    /// Most deliveries on the page, at most 1000 [default: 50]
    #[arg(long, value_name = "N", value_parser = super::whole::<usize>)]
    limit: Option<usize>,
    /// Go on: the next_cursor of the page before
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,
    #[command(flatten)]
    at: Past,
}

reads!(
    Args,
    at,
    render::delivery::open,
    DeliveryList(limit, cursor)
);
