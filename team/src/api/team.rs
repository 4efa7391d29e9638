//! Operations on the team itself.

use super::operation::Op;
use crate::failure::Result;
use crate::handle::team::Team;
use crate::lifecycle::manifest::{
    ConfigAnswer, ManifestAnswer, ReadConfig, ReadManifest, no_manifest,
};
use crate::refusal::Refusal;

impl Op for ReadConfig {
    type Data = ConfigAnswer;
    const NAME: &'static str = "read-config";
    const DOC: &'static str = "Read the team's configuration and its workers";
    const MUTATES: bool = false;

    fn run(self, team: &mut Team) -> Result<ConfigAnswer> {
        team.read_config(self)
    }
}

impl Op for ReadManifest {
    type Data = ManifestAnswer;
    const NAME: &'static str = "read-manifest";
    const DOC: &'static str = "Read the team's manifest: leader, policy, governance, workers";
    const MUTATES: bool = false;

    fn run(self, team: &mut Team) -> Result<ManifestAnswer> {
        team.read_manifest(self)
    }

    fn without_team(&self, missing: Refusal) -> Result<ManifestAnswer> {
        Err(no_manifest(missing).into())
    }
}
