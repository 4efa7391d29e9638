//! Operations on runs of the bootstrap contract.

use super::operation::Op;
use crate::bootstrap::list::{BootstrapList, BootstrapListed};
use crate::bootstrap::record::{
    BootstrapExplain, BootstrapExplained, BootstrapRecord, BootstrapRecorded,
};
use crate::bootstrap::show::{BootstrapEvidence, BootstrapShow, BootstrapShown};
use crate::bootstrap::start::{BootstrapStart, BootstrapStarted};
use crate::failure::Result;
use crate::handle::team::Team;
use crate::projections::bootstrap::Evidence;

impl Op for BootstrapStart {
    type Data = BootstrapStarted;
    const NAME: &'static str = "bootstrap-start";
    const DOC: &'static str = "Begin a run of the bootstrap contract";
    const MUTATES: bool = true;

    fn run(self, team: &mut Team) -> Result<BootstrapStarted> {
        team.bootstrap_start(self)
    }
}

impl Op for BootstrapRecord {
    type Data = BootstrapRecorded;
    const NAME: &'static str = "bootstrap-record";
    const DOC: &'static str = "Report what happened in a run; a violation of the contract is recorded, and the run falls back";
    const MUTATES: bool = true;

    /// What is not accepted is no success here.
    fn run(self, team: &mut Team) -> Result<BootstrapRecorded> {
        let recorded = team.execute(self)?;
        match recorded.refusal() {
            Some(refusal) => Err(refusal.into()),
            None => Ok(recorded),
        }
    }
}

impl Op for BootstrapList {
    type Data = BootstrapListed;
    const NAME: &'static str = "bootstrap-list";
    const DOC: &'static str = "List runs, the newest first, and how far each is";
    const MUTATES: bool = false;

    fn run(self, team: &mut Team) -> Result<BootstrapListed> {
        team.bootstrap_list(&self)
    }
}

impl Op for BootstrapShow {
    type Data = BootstrapShown;
    const NAME: &'static str = "bootstrap-show";
    const DOC: &'static str =
        "Read where a run stands: what is done, what is next, what must not happen now";
    const MUTATES: bool = false;

    fn run(self, team: &mut Team) -> Result<BootstrapShown> {
        team.bootstrap_show(self)
    }
}

impl Op for BootstrapEvidence {
    type Data = Evidence;
    const NAME: &'static str = "bootstrap-evidence";
    const DOC: &'static str = "Read what the log has to show for a run's launch";
    const MUTATES: bool = false;

    fn run(self, team: &mut Team) -> Result<Evidence> {
        team.bootstrap_evidence(self)
    }
}

impl Op for BootstrapExplain {
    type Data = BootstrapExplained;
    const NAME: &'static str = "bootstrap-explain";
    const DOC: &'static str = "Ask what would come of a report on a run; records nothing";
    const MUTATES: bool = false;

    fn run(self, team: &mut Team) -> Result<BootstrapExplained> {
        team.bootstrap_explain(self)
    }
}
