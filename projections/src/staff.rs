//! Workers: who they are, what they last said of themselves, and the team's way to its end.

use crate::error::Result;
use crate::fact::Fact;
use crate::tx::{Projection, Recorded, Tx};

/// The fold.
#[derive(Debug, Clone, Copy)]
pub struct StaffProjection;

impl Projection for StaffProjection {
    fn name(&self) -> &'static str {
        "staff"
    }
    fn version(&self) -> u32 {
        1
    }
    fn apply(&self, _: &mut Tx<'_>, recorded: Recorded<'_>) -> Result<()> {
        match recorded.fact {
            Fact::Worker(fact) => match **fact {},
            _ => Ok(()),
        }
    }
}
