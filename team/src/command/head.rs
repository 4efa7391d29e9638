//! `head`: a receipt for everything up to now.

use crate::failure::Result;
use crate::refusal::{Code, Refusal};
use crate::team::Team;
use schemars::JsonSchema;
use serde::Serialize;
use teamlog_engine::Receipt;

/// `{team, log, seq, segment, length, digest}`: `head -c LENGTH SEGMENT | b3sum` gives `digest`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct HeadAnswer {
    /// The team.
    pub team: String,
    /// The receipt.
    #[serde(flatten)]
    pub receipt: Receipt,
}

impl Team {
    /// A receipt for everything up to now. Costs hashing the active segment so far.
    ///
    /// # Errors
    /// `invalid_input` for a log without events; the log's.
    pub fn head(&mut self) -> Result<HeadAnswer> {
        let team = self.name().to_owned();
        match self.reader()?.receipt()? {
            Some(receipt) => Ok(HeadAnswer { team, receipt }),
            None => Err(Refusal::new(
                Code::InvalidInput,
                "the log must hold an event, but is empty",
            )
            .into()),
        }
    }
}
