//! Projections of a program beside a team's own state ([decision 0044](../../../docs/decisions/0044-projections-of-ones-own.md)).

use crate::handle::prelude::*;
use teamlog_engine::Point;
use teamlog_engine::projection::{Projection, ProjectionOptions, ProjectionRows, Projections};

impl Team {
    /// Opens a set of projections over the team's log, in `projections/NAME/` of the team's directory. The rows are no part of the team's
    /// state and of its digest: they belong to the programs that open the set. Names that begin with `script-` belong to the projections that
    /// agents declare.
    ///
    /// # Errors
    /// The errors of [`Projections::open`].
    pub fn open_projections(
        &self,
        name: &str,
        projections: Vec<Arc<dyn Projection>>,
        options: ProjectionOptions,
    ) -> Result<Projections> {
        Ok(Projections::open(&self.log, name, projections, options)?)
    }

    /// Returns the rows of a set of this team as of a point of the past, with the rules of [`Team::at`].
    ///
    /// # Errors
    /// `point_unknown` if the point is before the first event, after the last event, or in the future; the errors of
    /// [`Projections::catch_up`].
    pub fn projections_at(&self, set: &Projections, point: Point) -> Result<ProjectionRows> {
        let past = self.look_back("at", point)?;
        Ok(set.at_reader(&past.reader)?)
    }
}
