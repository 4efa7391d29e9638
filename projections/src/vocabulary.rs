//! Every reserved kind of event, in one table.
//!
//! The table is complete from the first release, so that no log can hold a foreign event of a kind that a later
//! version gives a meaning: `append` refuses these names, and names the command that records them.

/// One reserved kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kind {
    /// The kind, snake_case, a fact in the past.
    pub name: &'static str,
    /// The command that records it, as a user types it.
    pub command: &'static str,
    /// What it says.
    pub doc: &'static str,
}

/// The reserved kind of that name; `None` for a foreign one.
pub fn find(name: &str) -> Option<&'static Kind> {
    let at = KINDS.binary_search_by(|kind| kind.name.cmp(name)).ok()?;
    KINDS.get(at)
}

const fn kind(name: &'static str, command: &'static str, doc: &'static str) -> Kind {
    Kind { name, command, doc }
}

/// All reserved kinds, sorted by name.
#[rustfmt::skip]
pub const KINDS: &[Kind] = &[
    kind("ack_rejected", "teamlog ack TEAM", "An ack named an unknown message or came from somebody else than its recipient."),
    kind("approval_recorded", "teamlog api write-task-approval", "A reviewer decided on a task."),
    kind("artifact_stored", "teamlog artifact put TEAM", "An artifact was stored, with its digest and size."),
    kind("bootstrap_blocked", "teamlog bootstrap record TEAM", "The capability to launch a team was not available."),
    kind("bootstrap_branch_taken", "teamlog bootstrap record TEAM", "The probe's outcome chose the case to go on with."),
    kind("bootstrap_breached", "teamlog bootstrap record TEAM", "A guard of the bootstrap contract was violated; the code says which."),
    kind("bootstrap_core_acked", "teamlog bootstrap record TEAM", "A core member said that it is ready."),
    kind("bootstrap_core_pinged", "teamlog bootstrap record TEAM", "A core member was asked whether it is ready."),
    kind("bootstrap_core_relaunched", "teamlog bootstrap record TEAM", "Missing core members were launched again."),
    kind("bootstrap_delivery_acked", "teamlog bootstrap record TEAM", "A core member confirmed a domain's result."),
    kind("bootstrap_delivery_timed_out", "teamlog bootstrap record TEAM", "A domain's result was not confirmed in time."),
    kind("bootstrap_domain_excluded", "teamlog bootstrap record TEAM", "A domain was left out, with its reason."),
    kind("bootstrap_domain_started", "teamlog bootstrap record TEAM", "A domain's flow began."),
    kind("bootstrap_fallback_entered", "teamlog bootstrap record TEAM", "No team could be created; the flow ended in the fallback."),
    kind("bootstrap_feedback_given", "teamlog bootstrap record TEAM", "The reviewer gave a domain its verdict."),
    kind("bootstrap_final_synthesis_acked", "teamlog bootstrap record TEAM", "The request for the final synthesis was accepted."),
    kind("bootstrap_final_synthesis_requested", "teamlog bootstrap record TEAM", "The final synthesis was requested."),
    kind("bootstrap_gate_cleared", "teamlog bootstrap record TEAM", "The reviewer cleared the gate before the final synthesis."),
    kind("bootstrap_handshake_timed_out", "teamlog bootstrap record TEAM", "A core member did not say in time that it is ready."),
    kind("bootstrap_mapping_delivered", "teamlog bootstrap record TEAM", "A domain delivered its result to a core member."),
    kind("bootstrap_member_added", "teamlog bootstrap record TEAM", "A member joined the running team."),
    kind("bootstrap_probed", "teamlog bootstrap record TEAM", "An attempt to create the team returned."),
    kind("bootstrap_revision_submitted", "teamlog bootstrap record TEAM", "A domain began another round, since its result was not accepted."),
    kind("bootstrap_roster_built", "teamlog bootstrap record TEAM", "The members to launch were chosen."),
    kind("bootstrap_round_completed", "teamlog bootstrap record TEAM", "The reviewer finished a round over all active domains."),
    kind("bootstrap_running_entered", "teamlog bootstrap record TEAM", "The evidence of the launch was accepted; the team runs."),
    kind("bootstrap_signal_recorded", "teamlog bootstrap record TEAM", "A signal that moves nothing was reported."),
    kind("bootstrap_skeleton_sent", "teamlog bootstrap record TEAM", "The category skeleton went to all domains."),
    kind("bootstrap_started", "teamlog bootstrap start TEAM", "A run of the bootstrap contract began."),
    kind("bootstrap_swarm_declared", "teamlog bootstrap record TEAM", "The lead said that the team works."),
    kind("bootstrap_synthesis_delivered", "teamlog bootstrap record TEAM", "The final synthesis was delivered."),
    kind("bootstrap_team_launched", "teamlog bootstrap record TEAM", "The team was launched at once."),
    kind("budget_set", "teamlog usage TEAM --set", "The team's token budget was set."),
    kind("budget_soft_limit_reached", "teamlog usage TEAM", "The team used as many tokens as its soft limit says."),
    kind("config_changed", "teamlog config set TEAM", "Settings of the team changed."),
    kind("delivery_acked", "teamlog ack TEAM", "A delivery that needed an ack got it."),
    kind("delivery_dead_letter", "teamlog tick TEAM", "A delivery ran out of retries; the message became a dead letter."),
    kind("delivery_required", "teamlog send TEAM --require-ack", "A message needs an ack; deadlines and retries are set."),
    kind("delivery_retry", "teamlog tick TEAM", "A delivery was tried again."),
    kind("dispatch_delivered", "teamlog api mailbox-mark-delivered", "A dispatch request was delivered."),
    kind("dispatch_failed", "teamlog tick TEAM", "A dispatch request failed, since its message became a dead letter."),
    kind("dispatch_notified", "teamlog api mailbox-mark-delivered", "A dispatch request's recipient was notified."),
    kind("dispatch_requested", "teamlog api send-message", "A notification of a worker was requested."),
    kind("leader_attention_set", "teamlog api write-leader-attention", "The leader's attention state changed."),
    kind("log_converted", "teamlog convert TEAM", "The log was copied from another format or file system."),
    kind("log_cut", "teamlog doctor repair TEAM --to SEQ", "The log was cut after an event; what was cut is kept."),
    kind("log_imported", "teamlog import TEAM", "History was imported, with counts of what was left out."),
    kind("log_restored", "teamlog import TEAM --events", "The log was restored from an export or a backup."),
    kind("log_salvaged", "teamlog rehydrate TEAM --salvage", "What could be read of a damaged log was taken over."),
    kind("log_tail_quarantined", "teamlog append TEAM", "A torn tail was set aside."),
    kind("manifest_written", "teamlog init TEAM", "The team's manifest changed."),
    kind("members_added", "teamlog init TEAM --members", "Agents became members."),
    kind("members_removed", "teamlog api cleanup", "Agents ceased to be members."),
    kind("message_ack_duplicate", "teamlog ack TEAM", "An acknowledged message was acknowledged again."),
    kind("message_acked", "teamlog ack TEAM", "A message's recipient acknowledged it."),
    kind("message_delivered", "teamlog api mailbox-mark-delivered", "A message was marked delivered."),
    kind("message_duplicate", "teamlog send TEAM", "A message came again under an id that is known."),
    kind("message_notified", "teamlog api mailbox-mark-notified", "A message's recipient was notified of it."),
    kind("message_sent", "teamlog send TEAM", "A message was put into its recipient's inbox."),
    kind("message_suppressed", "teamlog send TEAM --cooldown-seconds", "A message was held back because the like was sent a moment ago."),
    kind("mode_auto_completed", "teamlog mode start", "A mode was completed because another one took over."),
    kind("mode_canceled", "teamlog mode cancel", "A mode was canceled."),
    kind("mode_cleared", "teamlog mode clear", "A mode's state was cleared."),
    kind("mode_completed", "teamlog mode complete", "A mode was completed."),
    kind("mode_failed", "teamlog mode fail", "A mode failed."),
    kind("mode_gate_bypassed", "teamlog mode prompt", "The gate before an execution mode was bypassed on purpose."),
    kind("mode_input_locked", "teamlog mode prompt", "Input was locked for an interview."),
    kind("mode_input_unlocked", "teamlog mode prompt", "The lock on input was released."),
    kind("mode_prompt_decided", "teamlog mode prompt", "A prompt with several skills was decided whole."),
    kind("mode_session_ended", "teamlog mode end-session", "A session ended, and the modes in it with it."),
    kind("mode_session_seen", "teamlog mode prompt", "A session gave a sign of life that changed nothing else."),
    kind("mode_skills_synced", "teamlog mode start", "The list of active skills was brought in line."),
    kind("mode_started", "teamlog mode start", "A mode was started."),
    kind("mode_transitioned", "teamlog mode start", "A hand-off between modes was decided."),
    kind("mode_updated", "teamlog mode update", "A mode's fields or phase changed."),
    kind("monitor_snapshot_written", "teamlog api write-monitor-snapshot", "A monitor's snapshot was stored."),
    kind("phase_changed", "teamlog api cleanup", "The team's phase changed."),
    kind("resource_declared", "teamlog api update-task", "A task's holder may write other paths than before."),
    kind("resource_policy_set", "teamlog api write-config", "How overlapping paths are treated was set."),
    kind("response_stored", "teamlog api create-task --key", "The first answer under an idempotency key was stored."),
    kind("shutdown_acked", "teamlog api write-shutdown-ack", "A worker accepted or rejected its shutdown."),
    kind("shutdown_gated", "teamlog api cleanup", "The gate before a cleanup was evaluated or forced."),
    kind("shutdown_requested", "teamlog api write-shutdown-request", "A worker was asked to stop."),
    kind("summary_snapshot_written", "teamlog api get-summary", "The baseline of the team's summary was moved."),
    kind("task_assigned", "teamlog task-assign TEAM", "A task got an owner without a claim."),
    kind("task_blocked", "teamlog api update-task", "A task began to wait for others."),
    kind("task_canceled", "teamlog task cancel TEAM ID", "A task was canceled."),
    kind("task_claimed", "teamlog task claim TEAM ID", "An agent took a task: token, lease, epoch."),
    kind("task_completed", "teamlog task complete TEAM ID", "A task was completed by the holder of its claim."),
    kind("task_created", "teamlog api create-task", "A task was created, governed by claims."),
    kind("task_deps_changed", "teamlog api update-task", "A task's dependencies changed."),
    kind("task_failed", "teamlog task fail TEAM ID", "A task was failed by the holder of its claim."),
    kind("task_imported", "teamlog import TEAM", "A snapshot without messages was taken over."),
    kind("task_lease_expired", "teamlog tick TEAM", "A lease ran out; the task is pending again."),
    kind("task_released", "teamlog task release TEAM ID", "A claim was given back; the task is pending again."),
    kind("task_renewed", "teamlog task renew TEAM ID", "A lease was prolonged."),
    kind("task_reopened", "teamlog task reopen TEAM ID", "A failed task is pending again."),
    kind("task_unblocked", "teamlog task complete TEAM ID", "The last dependency of a task was completed."),
    kind("task_updated", "teamlog api update-task", "A task's subject, description or demands changed."),
    kind("team_closed", "teamlog api cleanup", "The team was closed; reads go on, mutations are refused."),
    kind("team_created", "teamlog init TEAM", "The team was created."),
    kind("team_settings_changed", "teamlog init TEAM", "Whether agents join by acting, or views are kept, changed."),
    kind("thread_linked", "teamlog thread link TEAM", "A thread was linked to a task."),
    kind("thread_message_posted", "teamlog thread post TEAM", "A message was posted to a thread."),
    kind("thread_participants_added", "teamlog thread start TEAM", "Agents joined a thread."),
    kind("thread_started", "teamlog thread start TEAM", "A thread was started."),
    kind("usage_reported", "teamlog usage TEAM", "An agent reported the tokens it used."),
    kind("worker_event_reported", "teamlog api append-event", "A worker reported something; its type is the payload's."),
    kind("worker_heartbeat_updated", "teamlog api update-worker-heartbeat", "A worker gave a sign of life."),
    kind("worker_identity_written", "teamlog api write-worker-identity", "A worker registered."),
    kind("worker_inbox_written", "teamlog api write-worker-inbox", "A worker's instructions were replaced."),
    kind("worker_status_changed", "teamlog api write-worker-status", "A worker's state changed."),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_without_repeats() {
        for pair in KINDS.windows(2) {
            assert!(
                pair[0].name < pair[1].name,
                "{} {}",
                pair[0].name,
                pair[1].name
            );
        }
    }

    #[test]
    fn every_row_is_complete_and_names_match_the_pattern() {
        for kind in KINDS {
            let mut letters = kind.name.bytes();
            assert!(
                letters.next().is_some_and(|b| b.is_ascii_lowercase()),
                "{}",
                kind.name
            );
            assert!(
                letters.all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_'),
                "{}",
                kind.name
            );
            assert!(kind.command.starts_with("teamlog "), "{}", kind.name);
            assert!(
                kind.doc.ends_with('.') && kind.doc.len() > 10,
                "{}",
                kind.name
            );
            assert_eq!(find(kind.name), Some(kind));
        }
    }

    #[test]
    fn the_kinds_that_the_protocols_name_are_there() {
        for name in [
            "message_sent",
            "message_duplicate",
            "message_suppressed",
            "delivery_acked",
            "delivery_retry",
            "delivery_dead_letter",
            "message_acked",
            "message_ack_duplicate",
            "ack_rejected",
            "task_lease_expired",
            "bootstrap_breached",
            "bootstrap_blocked",
            "worker_event_reported",
            "task_completed",
            "task_failed",
            "task_imported",
            "team_created",
            "members_added",
            "log_tail_quarantined",
            "response_stored",
        ] {
            assert!(find(name).is_some(), "{name}");
        }
    }

    #[test]
    fn other_names_are_foreign() {
        for name in [
            "",
            "message",
            "deploy_finished",
            "message_sent_",
            "MESSAGE_SENT",
            "zz",
        ] {
            assert_eq!(find(name), None, "{name}");
        }
    }
}
