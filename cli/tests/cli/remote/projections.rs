//! Scripted projections for agents on other machines.

use super::*;

const BUILDS: &str = "fn fold(event) { this.builds += 1; }";

#[test]
fn agents_on_other_machines_read_and_only_the_leader_declares() {
    let machine = Machine::new();
    machine.elsewhere.file("builds.rhai", BUILDS);
    let declare =
        "project demo builds --init '{\"builds\":0}' --fold builds.rhai --key event.actor";
    let ran = machine.run("dev", declare);
    assert_ne!(ran.code, Some(0), "{ran:?}");
    machine.ok("lead", declare);
    assert!(
        machine
            .ok("dev", "project show demo builds")
            .contains("builds")
    );
    assert!(machine.ok("dev", "project list demo").contains("builds"));
    assert!(
        machine
            .ok("dev", "project test demo builds")
            .contains("equal")
    );
}
