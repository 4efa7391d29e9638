//! Operations on artifacts, whose content is text here.

use super::operation::Op;
use super::rules::Rules;
use crate::artifact::{
    ArtifactGet, ArtifactGetAnswer, ArtifactList, ArtifactListAnswer, ArtifactPut,
    ArtifactPutAnswer,
};
use crate::failure::Result;
use crate::handle::team::Team;

impl Op for ArtifactPut {
    type Data = ArtifactPutAnswer;
    const NAME: &'static str = "artifact-put";
    const DOC: &'static str = "Leave a text for others, under a name";
    const MUTATES: bool = true;
    const RULES: Rules = Rules {
        aliases: &[("taskId", "task_id"), ("agentId", "worker")],
        ..Rules::COMMON
    };

    fn run(self, team: &mut Team) -> Result<ArtifactPutAnswer> {
        team.artifact_put(self)
    }
}

impl Op for ArtifactGet {
    type Data = ArtifactGetAnswer;
    const NAME: &'static str = "artifact-get";
    const DOC: &'static str = "Read an artifact, checked against its digest";
    const MUTATES: bool = false;

    fn run(self, team: &mut Team) -> Result<ArtifactGetAnswer> {
        team.artifact_get(&self)
    }
}

impl Op for ArtifactList {
    type Data = ArtifactListAnswer;
    const NAME: &'static str = "artifact-list";
    const DOC: &'static str = "List artifacts by name";
    const MUTATES: bool = false;

    fn run(self, team: &mut Team) -> Result<ArtifactListAnswer> {
        team.artifact_list(&self)
    }
}
