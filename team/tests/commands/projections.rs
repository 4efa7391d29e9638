//! Tests of projections of a program beside a team's state.

#[allow(dead_code, reason = "a test calls what main calls")]
#[path = "../../examples/completed.rs"]
mod completed;

use crate::claims::{done, new};
use crate::prelude::*;
use teamlog_engine::Point;

#[test]
fn a_program_keeps_rows_beside_the_team() {
    let world = World::new();
    let mut team = world.demo();
    done(&mut team, new("one"));
    done(&mut team, new("two"));
    let digest = |team: &mut Team| rehydrate(team).state_digest;
    let before = digest(&mut team);
    let dev = |tasks| vec![("dev 2026-11-21".to_owned(), tasks)];
    assert_eq!(completed::completed(&team).unwrap(), dev(2));
    assert_eq!(
        digest(&mut team),
        before,
        "the state has no rows of programs"
    );
    done(&mut team, new("three"));
    assert_eq!(completed::completed(&team).unwrap(), dev(3));
    let home = Path::new("teams/demo/projections/completed");
    assert!(world.memory.stat(home).unwrap().is_some());
    let report = doctor(&world.root, "demo");
    assert_eq!(json(&report)["overall_status"], "healthy", "{report:?}");

    let set = completed::opened(&team).unwrap();
    let at = |seq| -> Result<Option<i64>, &'static str> {
        let rows = team.projections_at(&set, Point::Seq(seq));
        let rows = rows.map_err(|failure| failure.code())?;
        assert_eq!(rows.seq(), seq);
        Ok(rows.number("completed", b"dev 2026-11-21").unwrap())
    };
    let last = set.seq();
    assert_eq!(at(1), Ok(None));
    assert_eq!(at(last), Ok(Some(3)));
    assert_eq!(at(last - 1), Ok(Some(2)));
    assert_eq!(at(last + 1), Err("point_unknown"));
    assert_eq!(at(0), Err("point_unknown"));
    let unnamed = team.open_projections("No/name", Vec::new(), Default::default());
    assert!(unnamed.unwrap_err().to_string().contains("must be 1 to 64"));
}
