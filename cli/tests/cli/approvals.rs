//! Approvals on the command line: a task that requires an approval, and the places that show a rejection.

use crate::prelude::*;

fn decide(cli: &Cli, task: &str, status: &str, why: &str) {
    let input = json!({"team_name": "demo", "task_id": task, "status": status, "reviewer": "lead", "decision_reason": why});
    cli.ok(&format!("api write-task-approval --input '{input}' --json"));
}

#[test]
fn a_task_is_completed_only_with_the_approval_that_it_requires() {
    let cli = Cli::with_team();
    let made: Value =
        cli.json("task create demo --task-id T-1 --subject 'Fix it' --requires-approval");
    assert_eq!(made["task"]["requires_approval"], true);
    cli.ok("task claim demo T-1 --worker dev");
    let complete = "task complete demo T-1 --worker dev --epoch 1";
    let error = cli.refused_json(1, complete);
    assert_eq!(error.code, "approval_required");
    shows!(cli.ok("task show demo T-1") => has "required, no decision yet");
    decide(&cli, "T-1", "rejected", "no tests");
    shows!(cli.refused(1, complete) => has "rejected by lead: no tests");
    shows!(cli.ok("task show demo T-1") => has "rejected by lead: no tests  (required)");
    shows!(cli.ok("prime demo --agent dev") => has "approval: rejected by lead: no tests");
    shows!(cli.ok("attention demo") => has "T-1 was rejected by lead: no tests");
    decide(&cli, "T-1", "approved", "fine");
    cli.ok(complete);
}

#[test]
fn an_edit_begins_it_and_a_message_does_not_get_around_it() {
    let cli = Cli::with_team();
    cli.ok("task-assign demo --from lead --to dev --task-id T-1 --subject S");
    let edited: Value = cli.json("task edit demo T-1 --requires-approval");
    has!(edited, {"/task/requires_approval": true, "/task/subject": "S"});
    let done = "task-update demo --from dev --to lead --task-id T-1 --status done";
    shows!(cli.ok(done) =>
        starts "NOT APPLIED: task T-1 is not completed before it is approved; the rest was applied\n");
    let again: Value = cli.json(done);
    has!(again, {"applied": "not_applied", "reason": "approval_required"});
    cli.ok("task edit demo T-1 --requires-approval=false --subject 'Fix it' --blocked-by T-2 --expected-version 4");
    let shown: Value = cli.json("task show demo T-1");
    has!(shown["task"], {"requires_approval": false, "subject": "Fix it", "deps": ["T-2"]});
    has!(cli.json::<Value>(done), {"applied": "applied"});
    cli.refused(2, "task edit demo T-1");
}
