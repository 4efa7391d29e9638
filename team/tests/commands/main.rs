//! Tests of the commands of a team, from input to answer and events. The storage is in memory, and only the tests move the
//! clock.

#![expect(
    clippy::unwrap_used,
    reason = "a helper of tests may panic as tests do"
)]

#[macro_use]
#[path = "../../../engine/tests/support/cases.rs"]
mod cases;
#[macro_use]
#[path = "../../../engine/tests/support/given.rs"]
mod given;

mod agent_tokens;
mod appending;
mod appending_keys;
mod approvals;
mod artifacts;
mod attention;
mod authority;
#[macro_use]
mod bootstrap;
mod bootstrap_breaches;
mod bootstrap_doc;
mod bootstrap_histories;
mod bootstrap_launch;
mod bootstrap_messages;
mod bootstrap_runs;
mod bootstrap_strict;
mod bootstrap_work;
mod broker_calls;
mod broker_events;
mod broker_hints;
mod broker_shapes;
mod broker_waits;
mod claim_order;
mod claim_sessions;
mod claims;
mod claims_seen;
mod clock;
mod closing;
mod comments;
mod concerns;
mod conditions;
mod costs;
mod creating;
mod dead_letter_files;
mod deliveries;
mod dependents;
mod doctor;
mod doubts;
mod drawing;
mod ending;
mod event_pages;
mod fault_order;
mod follow;
mod golden;
mod golden_set;
mod hand;
mod histories;
mod holders;
mod hostile;
mod hosts;
mod importing;
mod integrity;
mod keys;
mod leases;
mod machines;
mod mail_histories;
mod mailbox;
mod mailbox_marks;
mod messages;
mod mode_calls;
mod mode_ends;
mod mode_histories;
mod mode_scopes;
mod mode_sessions;
mod mode_table;
mod mode_writes;
mod modes;
mod moving;
mod newer;
mod notices;
mod nudges;
mod one_group;
mod operations;
mod past;
mod plans;
mod power_loss;
mod prelude;
mod projections;
mod prompt_corpus;
mod prompts;
mod public_tool;
mod real_messages;
mod refusals;
mod refused_writes;
mod replaying;
mod residents;
mod resources;
mod retiring;
mod scenario;
mod scripted;
mod search;
mod settings;
mod staff_histories;
mod stalls;
mod state;
mod stories;
mod story_formats;
mod subscription_waits;
mod subscriptions;
mod supervision;
mod tags;
mod task_lists;
mod task_operations;
mod tasks;
mod team_chat;
mod teams;
mod threads;
mod transitions;
mod undoing;
mod usage;
mod view_files;
#[allow(dead_code, reason = "other tests use more of it")]
#[path = "../../../engine/tests/support/waiting.rs"]
mod waiting;
mod who;
mod workers;
mod world;
