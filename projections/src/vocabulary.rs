//! Every reserved kind of event, in one table.
//!
//! The table is complete from the first release, so that no log can hold a foreign event of a kind that a later
//! version gives a meaning: `append` refuses these names, and names the command that records them.

/// Where a kind comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Seed {
    /// The team's own life: creation, members, settings, answers under a key.
    Team,
    /// The team-chat protocol.
    TeamChat,
    /// The team mutation contract.
    TeamApi,
    /// The teamd protocol.
    Teamd,
    /// The mode contract.
    Modes,
    /// The bootstrap contract.
    Bootstrap,
    /// The log's own maintenance.
    Log,
}

impl Seed {
    /// All of them.
    pub const ALL: [Seed; 7] = [
        Seed::Team,
        Seed::TeamChat,
        Seed::TeamApi,
        Seed::Teamd,
        Seed::Modes,
        Seed::Bootstrap,
        Seed::Log,
    ];
}

/// One reserved kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kind {
    /// The kind, snake_case, a fact in the past.
    pub name: &'static str,
    /// Where it comes from.
    pub seed: Seed,
    /// The command that records it, as a user types it.
    pub command: &'static str,
    /// Whether it may move state. A fact that may not is recorded for people and auditors only.
    pub moves: bool,
    /// What it says.
    pub doc: &'static str,
}

/// The reserved kind of that name; `None` for a foreign one.
pub fn find(name: &str) -> Option<&'static Kind> {
    let at = KINDS.binary_search_by(|kind| kind.name.cmp(name)).ok()?;
    KINDS.get(at)
}

const fn kind(
    name: &'static str,
    seed: Seed,
    command: &'static str,
    moves: bool,
    doc: &'static str,
) -> Kind {
    Kind {
        name,
        seed,
        command,
        moves,
        doc,
    }
}

/// All reserved kinds, sorted by name.
#[rustfmt::skip]
pub const KINDS: &[Kind] = &[
    kind("ack_rejected", Seed::TeamChat, "teamlog ack TEAM", false, "An ack named an unknown message or came from somebody else than its recipient."),
    kind("approval_recorded", Seed::TeamApi, "teamlog api write-task-approval", true, "A reviewer decided on a task."),
    kind("artifact_stored", Seed::Teamd, "teamlog artifact put TEAM", true, "An artifact was stored, with its digest and size."),
    kind("bootstrap_blocked", Seed::Bootstrap, "teamlog bootstrap record TEAM", true, "The capability to launch a team was not available."),
    kind("bootstrap_branch_taken", Seed::Bootstrap, "teamlog bootstrap record TEAM", true, "The probe's outcome chose the case to go on with."),
    kind("bootstrap_breached", Seed::Bootstrap, "teamlog bootstrap record TEAM", true, "A guard of the bootstrap contract was violated; the code says which."),
    kind("bootstrap_core_acked", Seed::Bootstrap, "teamlog bootstrap record TEAM", true, "A core member said that it is ready."),
    kind("bootstrap_core_pinged", Seed::Bootstrap, "teamlog bootstrap record TEAM", true, "A core member was asked whether it is ready."),
    kind("bootstrap_core_relaunched", Seed::Bootstrap, "teamlog bootstrap record TEAM", true, "Missing core members were launched again."),
    kind("bootstrap_delivery_acked", Seed::Bootstrap, "teamlog bootstrap record TEAM", true, "A core member confirmed a domain's result."),
    kind("bootstrap_delivery_timed_out", Seed::Bootstrap, "teamlog bootstrap record TEAM", true, "A domain's result was not confirmed in time."),
    kind("bootstrap_domain_excluded", Seed::Bootstrap, "teamlog bootstrap record TEAM", true, "A domain was left out, with its reason."),
    kind("bootstrap_domain_started", Seed::Bootstrap, "teamlog bootstrap record TEAM", true, "A domain's flow began."),
    kind("bootstrap_fallback_entered", Seed::Bootstrap, "teamlog bootstrap record TEAM", true, "No team could be created; the flow ended in the fallback."),
    kind("bootstrap_feedback_given", Seed::Bootstrap, "teamlog bootstrap record TEAM", true, "The reviewer gave a domain its verdict."),
    kind("bootstrap_final_synthesis_acked", Seed::Bootstrap, "teamlog bootstrap record TEAM", true, "The request for the final synthesis was accepted."),
    kind("bootstrap_final_synthesis_requested", Seed::Bootstrap, "teamlog bootstrap record TEAM", true, "The final synthesis was requested."),
    kind("bootstrap_gate_cleared", Seed::Bootstrap, "teamlog bootstrap record TEAM", true, "The reviewer cleared the gate before the final synthesis."),
    kind("bootstrap_handshake_timed_out", Seed::Bootstrap, "teamlog bootstrap record TEAM", true, "A core member did not say in time that it is ready."),
    kind("bootstrap_mapping_delivered", Seed::Bootstrap, "teamlog bootstrap record TEAM", true, "A domain delivered its result to a core member."),
    kind("bootstrap_member_added", Seed::Bootstrap, "teamlog bootstrap record TEAM", true, "A member joined the running team."),
    kind("bootstrap_probed", Seed::Bootstrap, "teamlog bootstrap record TEAM", true, "An attempt to create the team returned."),
    kind("bootstrap_revision_submitted", Seed::Bootstrap, "teamlog bootstrap record TEAM", true, "A domain began another round, since its result was not accepted."),
    kind("bootstrap_roster_built", Seed::Bootstrap, "teamlog bootstrap record TEAM", true, "The members to launch were chosen."),
    kind("bootstrap_round_completed", Seed::Bootstrap, "teamlog bootstrap record TEAM", true, "The reviewer finished a round over all active domains."),
    kind("bootstrap_running_entered", Seed::Bootstrap, "teamlog bootstrap record TEAM", true, "The evidence of the launch was accepted; the team runs."),
    kind("bootstrap_signal_recorded", Seed::Bootstrap, "teamlog bootstrap record TEAM", false, "A signal that moves nothing was reported."),
    kind("bootstrap_skeleton_sent", Seed::Bootstrap, "teamlog bootstrap record TEAM", true, "The category skeleton went to all domains."),
    kind("bootstrap_started", Seed::Bootstrap, "teamlog bootstrap start TEAM", true, "A run of the bootstrap contract began."),
    kind("bootstrap_swarm_declared", Seed::Bootstrap, "teamlog bootstrap record TEAM", true, "The lead said that the team works."),
    kind("bootstrap_synthesis_delivered", Seed::Bootstrap, "teamlog bootstrap record TEAM", true, "The final synthesis was delivered."),
    kind("bootstrap_team_launched", Seed::Bootstrap, "teamlog bootstrap record TEAM", true, "The team was launched at once."),
    kind("budget_set", Seed::Teamd, "teamlog usage TEAM --set", true, "The team's token budget was set."),
    kind("budget_soft_limit_reached", Seed::Teamd, "teamlog usage TEAM", true, "The team used as many tokens as its soft limit says."),
    kind("config_changed", Seed::Team, "teamlog config set TEAM", true, "Settings of the team changed."),
    kind("delivery_acked", Seed::TeamChat, "teamlog ack TEAM", true, "A delivery that needed an ack got it."),
    kind("delivery_dead_letter", Seed::TeamChat, "teamlog tick TEAM", true, "A delivery ran out of retries; the message became a dead letter."),
    kind("delivery_required", Seed::TeamChat, "teamlog send TEAM --require-ack", true, "A message needs an ack; deadlines and retries are set."),
    kind("delivery_retry", Seed::TeamChat, "teamlog tick TEAM", true, "A delivery was tried again."),
    kind("dispatch_delivered", Seed::TeamApi, "teamlog api mailbox-mark-delivered", true, "A dispatch request was delivered."),
    kind("dispatch_failed", Seed::TeamApi, "teamlog tick TEAM", true, "A dispatch request failed, since its message became a dead letter."),
    kind("dispatch_notified", Seed::TeamApi, "teamlog api mailbox-mark-delivered", true, "A dispatch request's recipient was notified."),
    kind("dispatch_requested", Seed::TeamApi, "teamlog api send-message", true, "A notification of a worker was requested."),
    kind("leader_attention_set", Seed::TeamApi, "teamlog api write-leader-attention", true, "The leader's attention state changed."),
    kind("log_converted", Seed::Log, "teamlog convert TEAM", false, "The log was copied from another format or file system."),
    kind("log_cut", Seed::Log, "teamlog doctor repair TEAM --to SEQ", false, "The log was cut after an event; what was cut is kept."),
    kind("log_imported", Seed::Log, "teamlog import TEAM", false, "History was imported, with counts of what was left out."),
    kind("log_restored", Seed::Log, "teamlog import TEAM --events", false, "The log was restored from an export or a backup."),
    kind("log_salvaged", Seed::Log, "teamlog rehydrate TEAM --salvage", false, "What could be read of a damaged log was taken over."),
    kind("log_tail_quarantined", Seed::Log, "teamlog append TEAM", false, "A torn tail was set aside."),
    kind("manifest_written", Seed::TeamApi, "teamlog init TEAM", true, "The team's manifest changed."),
    kind("members_added", Seed::Team, "teamlog init TEAM --members", true, "Agents became members."),
    kind("members_removed", Seed::Team, "teamlog api cleanup", true, "Agents ceased to be members."),
    kind("message_ack_duplicate", Seed::TeamChat, "teamlog ack TEAM", false, "An acknowledged message was acknowledged again."),
    kind("message_acked", Seed::TeamChat, "teamlog ack TEAM", true, "A message's recipient acknowledged it."),
    kind("message_delivered", Seed::TeamApi, "teamlog api mailbox-mark-delivered", true, "A message was marked delivered."),
    kind("message_duplicate", Seed::TeamChat, "teamlog send TEAM", false, "A message came again under an id that is known."),
    kind("message_notified", Seed::TeamApi, "teamlog api mailbox-mark-notified", true, "A message's recipient was notified of it."),
    kind("message_sent", Seed::TeamChat, "teamlog send TEAM", true, "A message was put into its recipient's inbox."),
    kind("message_suppressed", Seed::TeamChat, "teamlog send TEAM --cooldown-seconds", false, "A message was held back because the like was sent a moment ago."),
    kind("mode_auto_completed", Seed::Modes, "teamlog mode start", true, "A mode was completed because another one took over."),
    kind("mode_canceled", Seed::Modes, "teamlog mode cancel", true, "A mode was canceled."),
    kind("mode_cleared", Seed::Modes, "teamlog mode clear", true, "A mode's state was cleared."),
    kind("mode_completed", Seed::Modes, "teamlog mode complete", true, "A mode was completed."),
    kind("mode_failed", Seed::Modes, "teamlog mode fail", true, "A mode failed."),
    kind("mode_gate_bypassed", Seed::Modes, "teamlog mode prompt", false, "The gate before an execution mode was bypassed on purpose."),
    kind("mode_input_locked", Seed::Modes, "teamlog mode prompt", true, "Input was locked for an interview."),
    kind("mode_input_unlocked", Seed::Modes, "teamlog mode prompt", true, "The lock on input was released."),
    kind("mode_prompt_decided", Seed::Modes, "teamlog mode prompt", false, "A prompt with several skills was decided whole."),
    kind("mode_session_ended", Seed::Modes, "teamlog mode end-session", true, "A session ended, and the modes in it with it."),
    kind("mode_session_seen", Seed::Modes, "teamlog mode prompt", true, "A session gave a sign of life that changed nothing else."),
    kind("mode_skills_synced", Seed::Modes, "teamlog mode start", true, "The list of active skills was brought in line."),
    kind("mode_started", Seed::Modes, "teamlog mode start", true, "A mode was started."),
    kind("mode_transitioned", Seed::Modes, "teamlog mode start", false, "A hand-off between modes was decided."),
    kind("mode_updated", Seed::Modes, "teamlog mode update", true, "A mode's fields or phase changed."),
    kind("monitor_snapshot_written", Seed::TeamApi, "teamlog api write-monitor-snapshot", true, "A monitor's snapshot was stored."),
    kind("phase_changed", Seed::TeamApi, "teamlog api cleanup", true, "The team's phase changed."),
    kind("resource_declared", Seed::Teamd, "teamlog api update-task", true, "A task's holder may write other paths than before."),
    kind("resource_policy_set", Seed::Teamd, "teamlog api write-config", true, "How overlapping paths are treated was set."),
    kind("response_stored", Seed::Team, "teamlog api create-task --key", true, "The first answer under an idempotency key was stored."),
    kind("shutdown_acked", Seed::TeamApi, "teamlog api write-shutdown-ack", true, "A worker accepted or rejected its shutdown."),
    kind("shutdown_gated", Seed::TeamApi, "teamlog api cleanup", false, "The gate before a cleanup was evaluated or forced."),
    kind("shutdown_requested", Seed::TeamApi, "teamlog api write-shutdown-request", true, "A worker was asked to stop."),
    kind("summary_snapshot_written", Seed::TeamApi, "teamlog api get-summary", true, "The baseline of the team's summary was moved."),
    kind("task_assigned", Seed::TeamApi, "teamlog task-assign TEAM", true, "A task got an owner without a claim."),
    kind("task_blocked", Seed::TeamApi, "teamlog api update-task", true, "A task began to wait for others."),
    kind("task_canceled", Seed::Teamd, "teamlog task cancel TEAM ID", true, "A task was canceled."),
    kind("task_claimed", Seed::TeamApi, "teamlog task claim TEAM ID", true, "An agent took a task: token, lease, epoch."),
    kind("task_completed", Seed::TeamApi, "teamlog task complete TEAM ID", true, "A task was completed by the holder of its claim."),
    kind("task_created", Seed::TeamApi, "teamlog api create-task", true, "A task was created, governed by claims."),
    kind("task_deps_changed", Seed::TeamApi, "teamlog api update-task", true, "A task's dependencies changed."),
    kind("task_failed", Seed::TeamApi, "teamlog task fail TEAM ID", true, "A task was failed by the holder of its claim."),
    kind("task_imported", Seed::TeamChat, "teamlog import TEAM", true, "A snapshot without messages was taken over."),
    kind("task_lease_expired", Seed::Teamd, "teamlog tick TEAM", true, "A lease ran out; the task is pending again."),
    kind("task_released", Seed::TeamApi, "teamlog task release TEAM ID", true, "A claim was given back; the task is pending again."),
    kind("task_renewed", Seed::Teamd, "teamlog task renew TEAM ID", true, "A lease was prolonged."),
    kind("task_reopened", Seed::TeamApi, "teamlog task reopen TEAM ID", true, "A failed task is pending again."),
    kind("task_unblocked", Seed::Teamd, "teamlog task complete TEAM ID", true, "The last dependency of a task was completed."),
    kind("task_updated", Seed::TeamApi, "teamlog api update-task", true, "A task's subject, description or demands changed."),
    kind("team_closed", Seed::Team, "teamlog api cleanup", true, "The team was closed; reads go on, mutations are refused."),
    kind("team_created", Seed::Team, "teamlog init TEAM", true, "The team was created."),
    kind("team_settings_changed", Seed::Team, "teamlog init TEAM", true, "Whether agents join by acting, or views are kept, changed."),
    kind("thread_linked", Seed::Teamd, "teamlog thread link TEAM", true, "A thread was linked to a task."),
    kind("thread_message_posted", Seed::Teamd, "teamlog thread post TEAM", true, "A message was posted to a thread."),
    kind("thread_participants_added", Seed::Teamd, "teamlog thread start TEAM", true, "Agents joined a thread."),
    kind("thread_started", Seed::Teamd, "teamlog thread start TEAM", true, "A thread was started."),
    kind("usage_reported", Seed::Teamd, "teamlog usage TEAM", true, "An agent reported the tokens it used."),
    kind("worker_event_reported", Seed::TeamApi, "teamlog api append-event", false, "A worker reported something; its type is the payload's."),
    kind("worker_heartbeat_updated", Seed::TeamApi, "teamlog api update-worker-heartbeat", true, "A worker gave a sign of life."),
    kind("worker_identity_written", Seed::TeamApi, "teamlog api write-worker-identity", true, "A worker registered."),
    kind("worker_inbox_written", Seed::TeamApi, "teamlog api write-worker-inbox", true, "A worker's instructions were replaced."),
    kind("worker_status_changed", Seed::TeamApi, "teamlog api write-worker-status", true, "A worker's state changed."),
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
    fn every_seed_has_rows() {
        for seed in Seed::ALL {
            assert!(KINDS.iter().any(|kind| kind.seed == seed), "{seed:?}");
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
    fn facts_of_refusals_move_no_state() {
        for name in [
            "message_duplicate",
            "message_ack_duplicate",
            "ack_rejected",
            "message_suppressed",
            "bootstrap_signal_recorded",
            "worker_event_reported",
        ] {
            assert!(!find(name).unwrap().moves, "{name}");
        }
        for name in [
            "task_lease_expired",
            "bootstrap_breached",
            "bootstrap_blocked",
        ] {
            assert!(find(name).unwrap().moves, "{name}");
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
