//! Questions to the state. Times and seqs of a page are bounds that the caller chooses; none walks over history.

use super::{Counts, Live};
use crate::artifact::event::ArtifactKind;
use crate::artifact::{self, Artifact};
use crate::bootstrap::{self, Run};
use crate::delivery::{self, DeadLetter, Delivery, Due};
use crate::error::Result;
use crate::feed::{self, FeedPage};
use crate::message::{
    self, AgentInfo, Dispatch, InboxQuery, LastSent, MailCounts, Marks, MessageInfo, SameMail,
    SeqPage, Unacked, UnreadMail,
};
use crate::message::{Message, MessageType};
use crate::mode::{self, Mode, ModeScope, ModeState, Scope, SessionLife};
use crate::response::event::ResponseStored;
use crate::task::{self, HeldResources, Task, TaskCounts, TaskFilter, TaskPage};
use crate::team::settings::{self, Policy, Setting, Value};
use crate::team::{self, TeamInfo};
use crate::thread::{self, Thread};
use crate::usage::{self, BudgetInfo, Used, Whose};
use crate::worker::activity::{self, Activity};
use crate::worker::event::{Heartbeat, Identity, ShutdownAck, ShutdownRequest, StatusChange};
use crate::worker::supervision::{Approval, Baseline};
use crate::worker::{self, Noted};
use crate::{fact, response};
use std::collections::{BTreeMap, BTreeSet};
use teamlog_engine::derived::key;
use teamlog_engine::{Event, Place, Reader, RefKind, Timestamp};

impl Live {
    // --- the team -------------------------------------------------------------------------------

    /// The team, once `team_created` is recorded.
    ///
    /// # Errors
    /// I/O, `Derived` (so for all queries).
    pub fn team(&self) -> Result<Option<TeamInfo>> {
        team::info(self.rows())
    }
    /// Whether the team was closed.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn is_closed(&self) -> Result<bool> {
        Ok(self.team()?.is_some_and(|team| team.closed_at.is_some()))
    }
    /// All members, sorted.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn members(&self) -> Result<Vec<String>> {
        team::members(self.rows())
    }
    /// Whether an agent is a member.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn is_member(&self, name: &str) -> Result<bool> {
        team::is_member(self.rows(), name)
    }
    /// How many of what there are.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn counts(&self) -> Result<Counts> {
        Ok(Counts {
            events: self.folded,
            messages: self.count_of("message_sent")?,
            acks: self.count_of("message_acked")?,
            tasks: self.task_counts()?.total(),
        })
    }
    /// How many events of a reserved kind there are.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn count_of(&self, kind: &str) -> Result<u64> {
        team::count_of(self.rows(), kind)
    }

    /// The value of a setting that counts, and whether somebody set it.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn setting(&self, setting: Setting) -> Result<(Value, bool)> {
        match settings::recorded(self.rows(), setting)? {
            Some(value) => Ok((value, true)),
            None => Ok((settings::default(self.rows(), setting)?, false)),
        }
    }
    /// The value that a setting has where nobody set it.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn default_of(&self, setting: Setting) -> Result<Value> {
        settings::default(self.rows(), setting)
    }
    /// Every setting that somebody set, by key.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn settings(&self) -> Result<BTreeMap<String, Value>> {
        settings::all_recorded(self.rows())
    }
    /// How a message of that type is delivered where its sender says nothing else.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn policy(&self, kind: MessageType) -> Result<Policy> {
        settings::policy(self.rows(), kind)
    }
    /// What an agent last did; `None` for one that never did anything.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn activity(&self, agent: &str) -> Result<Option<Activity>> {
        activity::of(self.rows(), agent)
    }

    /// The first answer under an idempotency key.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn response(&self, key: &str) -> Result<Option<ResponseStored>> {
        response::under(self.rows(), key)
    }

    // --- deliveries -----------------------------------------------------------------------------

    /// The delivery of a message, if one was required.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn delivery(&self, message_id: &str) -> Result<Option<Delivery>> {
        delivery::delivery(self.rows(), message_id)
    }
    /// The first `limit` things that are due by `now`, of one message or of all, in order of time.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn due_by(
        &self,
        now: Timestamp,
        message_id: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Due>> {
        delivery::due_by(self.rows(), now, message_id, limit)
    }
    /// When the next attempt of any delivery ends.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn next_due(&self) -> Result<Option<Timestamp>> {
        delivery::next_due(self.rows())
    }
    /// A dead letter by its id.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn dead_letter(&self, id: &str) -> Result<Option<DeadLetter>> {
        delivery::by_id(self.rows(), id)
    }
    /// The dead letter that an event recorded.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn dead_letter_at(&self, seq: u64) -> Result<Option<DeadLetter>> {
        delivery::by_seq(self.rows(), seq)
    }
    /// The newest `limit` dead letters before event `before`, of one recipient or of all.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn dead_letters(
        &self,
        agent: Option<&str>,
        before: Option<u64>,
        limit: usize,
    ) -> Result<SeqPage> {
        delivery::dead_letters(self.rows(), agent, before, limit)
    }

    // --- messages -------------------------------------------------------------------------------

    /// A message by its id.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn message(&self, id: &str) -> Result<Option<MessageInfo>> {
        message::fold::message(self.rows(), id)
    }
    /// An agent's inbox in numbers; zeros for one that never got anything.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn agent(&self, name: &str) -> Result<AgentInfo> {
        message::fold::agent(self.rows(), name)
    }
    /// All agents that have an inbox, sorted by name.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn agents(&self) -> Result<Vec<AgentInfo>> {
        message::fold::agents(self.rows())
    }
    /// A page of an inbox: the newest `limit` messages, oldest of the page first.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn inbox(&self, agent: &str, query: InboxQuery) -> Result<SeqPage> {
        message::fold::inbox(self.rows(), agent, query)
    }
    /// A page of the messages of an inbox that are not delivered: the newest `limit` before `before`, oldest first.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn undelivered(&self, agent: &str, before: Option<u64>, limit: usize) -> Result<SeqPage> {
        message::fold::undelivered(self.rows(), agent, before, limit)
    }
    /// What became of a message beside its ack.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn marks(&self, message_id: &str) -> Result<Marks> {
        message::marks(self.rows(), message_id)
    }
    /// The oldest plain mail of that sender, recipient and body that is not delivered.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn same_mail(&self, from: &str, to: &str, body: &str) -> Result<Option<SameMail>> {
        message::same(self.rows(), from, to, body)
    }
    /// How many messages of an agent are not delivered, and how many requests to tell it are open.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn mail_counts(&self, agent: &str) -> Result<MailCounts> {
        message::counts(self.rows(), agent)
    }
    /// A dispatch request by its id.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn dispatch(&self, request_id: &str) -> Result<Option<Dispatch>> {
        message::dispatch(self.rows(), request_id)
    }
    /// How many messages are listed as unread of an agent, counted one by one: for checks.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn unread_count(&self, agent: &str) -> Result<u64> {
        message::fold::unread_count(self.rows(), agent)
    }
    /// When a message of that type was last sent to `to` about that task (for the cooldown).
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn last_sent(
        &self,
        to: &str,
        task_id: Option<&str>,
        kind: MessageType,
    ) -> Result<Option<LastSent>> {
        message::fold::last_sent(self.rows(), to, task_id, kind)
    }
    /// The id of the message that an event recorded, while nobody acknowledged it.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn unread_id(&self, seq: u64) -> Result<Option<String>> {
        message::unread_id(self.rows(), seq)
    }
    /// The newest unread messages of an agent, wake-ups apart, at most `limit` of each.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn unread_mail(&self, agent: &str, limit: usize) -> Result<UnreadMail> {
        message::unread_mail(self.rows(), agent, limit)
    }
    /// Requests to tell somebody something that are open, by their ids.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn open_dispatches(&self, limit: usize) -> Result<Vec<Dispatch>> {
        message::open_dispatches(self.rows(), limit)
    }
    /// Deliveries that wait for their ack, the next one that is due first.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn open_deliveries(&self, limit: usize) -> Result<Vec<Delivery>> {
        delivery::open(self.rows(), limit)
    }
    /// The oldest messages that were recorded before `before` and never acknowledged, oldest first.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn stale_messages(&self, before: Timestamp, limit: usize) -> Result<Vec<Unacked>> {
        message::fold::unacked(self.rows(), before, limit)
    }

    // --- tasks ----------------------------------------------------------------------------------

    /// A task by its id.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn task(&self, id: &str) -> Result<Option<Task>> {
        task::task(self.rows(), id)
    }
    /// Tasks in natural order, behind the one with id `after` (which need not exist).
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn tasks(
        &self,
        filter: &TaskFilter,
        after: Option<&str>,
        limit: usize,
    ) -> Result<TaskPage> {
        task::list(self.rows(), filter, after, limit)
    }
    /// Whether all dependencies of a task are completed.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn ready(&self, task: &Task) -> Result<bool> {
        task::deps_completed(self.rows(), task)
    }
    /// Those of these dependencies that are not completed, in order.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn open_deps(&self, deps: &[String]) -> Result<Vec<String>> {
        task::open_deps(self.rows(), deps)
    }
    /// Those of these dependencies that failed or were canceled, in order.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn lost_deps(&self, deps: &[String]) -> Result<Vec<String>> {
        task::lost_deps(self.rows(), deps)
    }
    /// The first of these dependencies that would lead back to the task `id`, as the way there and back; only the task
    /// and the dependency where that is longer than anybody looks.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn dependency_cycle(&self, id: &str, deps: &[String]) -> Result<Option<Vec<String>>> {
        task::cycle(self.rows(), id, deps)
    }
    /// Tasks that have the task `id` among their dependencies.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn dependents(&self, id: &str) -> Result<Vec<Task>> {
        task::dependents(self.rows(), id)
    }
    /// Blocked tasks whose dependencies are completed, which an event has yet to say, in natural order.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn freed_tasks(&self, limit: usize) -> Result<Vec<Task>> {
        task::freed(self.rows(), limit)
    }
    /// The ids of the tasks that holders of claims completed after `since`, in natural order.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn completed_since(&self, since: Option<Timestamp>) -> Result<Vec<String>> {
        task::completed_since(self.rows(), since)
    }
    /// Claimed tasks whose lease ran out by `now`, the earliest first.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn expired_tasks(&self, now: Timestamp, limit: usize) -> Result<Vec<Task>> {
        task::leases_until(self.rows(), now, limit)
    }
    /// What a holder's live claims hold of paths, in natural order of the tasks.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn held_by(&self, holder: &str) -> Result<Vec<HeldResources>> {
        task::held_by(self.rows(), holder)
    }
    /// What all live claims hold of paths, holder by holder.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn held_resources(&self) -> Result<Vec<HeldResources>> {
        task::all_held(self.rows())
    }
    /// How many leases run at `now`. Reads as many entries.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn lease_count(&self, now: Timestamp) -> Result<u64> {
        task::lease_count(self.rows(), now)
    }
    /// Who holds a lease that runs at `now`. Reads as many tasks.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn lease_holders(&self, now: Timestamp) -> Result<BTreeSet<String>> {
        task::lease_holders(self.rows(), now)
    }
    /// When the next lease runs out.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn next_lease(&self) -> Result<Option<Timestamp>> {
        task::next_lease(self.rows())
    }
    /// A number that is the id of no task, larger than all that are.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn next_task_number(&self) -> Result<u64> {
        task::next_number(self.rows())
    }
    /// Tasks that can be taken up: most urgent first, then oldest, then by id, behind `after`. For an agent those are
    /// what is for anybody and what is assigned to it.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn ready_tasks(
        &self,
        agent: Option<&str>,
        after: Option<&Task>,
        limit: usize,
    ) -> Result<TaskPage> {
        task::can_start(self.rows(), agent, after, limit)
    }
    /// How many tasks can be taken up, by that agent if one is named.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn ready_count(&self, agent: Option<&str>) -> Result<u64> {
        task::ready_count(self.rows(), agent)
    }
    /// Unfinished tasks of an owner that it cannot go on with, since they are blocked or a dependency is not completed;
    /// in natural order.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn waiting_tasks(
        &self,
        owner: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<TaskPage> {
        task::waiting(self.rows(), owner, after, limit)
    }
    /// How many those are.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn waiting_count(&self, owner: &str) -> Result<u64> {
        task::waiting_count(self.rows(), owner)
    }
    /// How many tasks of an owner are in each state.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn owned_counts(&self, owner: &str) -> Result<TaskCounts> {
        task::owned(self.rows(), owner)
    }
    /// How many tasks are in each state.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn task_counts(&self) -> Result<TaskCounts> {
        task::counts(self.rows())
    }
    /// Tasks in state `blocked` or reported blocked, in natural order.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn blocked_tasks(&self, after: Option<&str>, limit: usize) -> Result<TaskPage> {
        task::blocked(self.rows(), after, limit)
    }
    /// Unfinished tasks last updated before `before`, longest untouched first.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn stale_tasks(&self, before: Timestamp, limit: usize) -> Result<Vec<Task>> {
        task::stale(self.rows(), before, limit)
    }
    /// Whether the message recorded by that event came too late and changed nothing.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn superseded(&self, seq: u64) -> Result<bool> {
        task::superseded(self.rows(), seq)
    }

    // --- the staff ------------------------------------------------------------------------------

    /// Who a worker is; `None` for one that never registered.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn identity(&self, worker: &str) -> Result<Option<Noted<Identity>>> {
        worker::identity(self.rows(), worker)
    }
    /// A worker's last sign of life.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn heartbeat(&self, worker: &str) -> Result<Option<Noted<Heartbeat>>> {
        worker::heartbeat(self.rows(), worker)
    }
    /// What a worker last said that it does.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn worker_status(&self, worker: &str) -> Result<Option<Noted<StatusChange>>> {
        worker::status(self.rows(), worker)
    }
    /// The event that holds a worker's instructions.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn worker_inbox(&self, worker: &str) -> Result<Option<u64>> {
        worker::inbox(self.rows(), worker)
    }
    /// Who last asked a worker to stop.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn shutdown_request(&self, worker: &str) -> Result<Option<Noted<ShutdownRequest>>> {
        worker::shutdown_request(self.rows(), worker)
    }
    /// What a worker last said to that.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn shutdown_ack(&self, worker: &str) -> Result<Option<Noted<ShutdownAck>>> {
        worker::shutdown_ack(self.rows(), worker)
    }
    /// The event that told of a worker's last becoming idle.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn last_idle(&self, worker: &str) -> Result<Option<u64>> {
        worker::last_idle(self.rows(), worker)
    }
    /// What a worker's progress is measured from.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn baseline(&self, worker: &str) -> Result<Option<Noted<Baseline>>> {
        worker::baseline(self.rows(), worker)
    }
    /// What a reviewer last decided on a task.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn approval(&self, task: &str) -> Result<Option<Noted<Approval>>> {
        worker::approval(self.rows(), task)
    }
    /// The last reported event of that type, which is one of [`worker::TEAM_WIDE`].
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn last_reported(&self, kind: &str) -> Result<Option<u64>> {
        worker::last_reported(self.rows(), kind)
    }
    /// The event that holds the monitor's snapshot.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn monitor_snapshot(&self) -> Result<Option<u64>> {
        worker::monitor_snapshot(self.rows())
    }
    /// The event that tells what was last seen of the leader.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn leader_attention(&self) -> Result<Option<u64>> {
        worker::last_reported(self.rows(), worker::ATTENTION)
    }
    /// How far the team is; `None` where nobody said.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn phase(&self) -> Result<Option<Noted<String>>> {
        worker::phase(self.rows())
    }

    // --- modes ----------------------------------------------------------------------------------

    /// The state of a mode in a scope.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn mode_state(&self, scope: &Scope, mode: Mode) -> Result<Option<ModeState>> {
        mode::state(self.rows(), scope, mode)
    }
    /// The states of a scope in short; `None` where nothing is known of it.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn mode_scope(&self, scope: &Scope) -> Result<Option<ModeScope>> {
        mode::scope_of(self.rows(), scope)
    }
    /// Sessions of which any mode is known, in order, from behind `after` on.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn mode_sessions(&self, after: Option<&str>, limit: usize) -> Result<Vec<String>> {
        mode::sessions(self.rows(), after, limit)
    }
    /// Sessions in which a mode is active, in order.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn active_sessions(&self) -> Result<Vec<String>> {
        mode::active_sessions(self.rows())
    }
    /// The life of a session; `None` where it never gave a sign of it.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn session_life(&self, session: &str) -> Result<Option<SessionLife>> {
        mode::life(self.rows(), session)
    }
    /// Sessions that gave a sign of life, in order, from behind `after` on.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn sessions(&self, after: Option<&str>, limit: usize) -> Result<Vec<String>> {
        mode::lives(self.rows(), after, limit)
    }
    /// Sessions that hold a state of a mode, in order.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn sessions_with(&self, mode: Mode) -> Result<Vec<String>> {
        mode::holders(self.rows(), mode)
    }

    // --- the bootstrap --------------------------------------------------------------------------

    /// A run of the bootstrap contract by its id.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn bootstrap_run(&self, id: &str) -> Result<Option<Run>> {
        bootstrap::run(self.rows(), id)
    }
    /// The runs that began last, the newest first.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn newest_bootstrap_runs(&self, limit: usize) -> Result<Vec<Run>> {
        bootstrap::newest(self.rows(), limit)
    }
    /// The runs that began before an event, or all, the newest first, each with the event that began it.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn bootstrap_runs_before(
        &self,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<(u64, Run)>> {
        bootstrap::begun_before(self.rows(), before, limit)
    }
    /// A number that is the id of no run, larger than all that are.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn next_bootstrap_number(&self) -> Result<u64> {
        bootstrap::next_number(self.rows())
    }
    /// The runs of which something timed out by `now`, the earliest first.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn bootstrap_due_by(&self, now: Timestamp, limit: usize) -> Result<Vec<Run>> {
        bootstrap::due_by(self.rows(), now, limit)
    }
    /// When the next thing of any run times out.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn next_bootstrap_due(&self) -> Result<Option<Timestamp>> {
        bootstrap::next_due(self.rows())
    }

    // --- threads and the feed -------------------------------------------------------------------

    /// A thread by its id.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn thread(&self, id: &str) -> Result<Option<Thread>> {
        thread::thread(self.rows(), id)
    }
    /// Threads whose ids come before `before`, the last one first.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn threads_before(&self, before: Option<&str>, limit: usize) -> Result<Vec<Thread>> {
        thread::before(self.rows(), before, limit)
    }
    /// The newest `limit` messages of a thread before event `before`, oldest first.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn thread_posts(&self, id: &str, before: Option<u64>, limit: usize) -> Result<SeqPage> {
        thread::posts(self.rows(), id, before, limit)
    }
    /// A number that is the id of no thread, larger than all that are.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn next_thread_number(&self) -> Result<u64> {
        thread::next_number(self.rows())
    }
    /// The first `limit` events behind `since` that an agent is told, oldest first.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn feed(&self, agent: &str, since: u64, limit: usize) -> Result<FeedPage> {
        feed::behind(self.rows(), agent, since, limit)
    }

    // --- tokens ---------------------------------------------------------------------------------

    /// Tokens that were used.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn used(&self, whose: Whose<'_>) -> Result<Used> {
        usage::used(self.rows(), whose)
    }
    /// Agents that used any, by name, from behind `after` on.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn agents_used(&self, after: Option<&str>, limit: usize) -> Result<Vec<(String, Used)>> {
        usage::agents(self.rows(), after, limit)
    }
    /// How many tokens may be used; `None` where nobody said.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn budget(&self) -> Result<Option<BudgetInfo>> {
        usage::budget(self.rows())
    }

    // --- artifacts ------------------------------------------------------------------------------

    /// What was last left under a name.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn artifact(&self, name: &str) -> Result<Option<Artifact>> {
        artifact::artifact(self.rows(), name)
    }
    /// Artifacts by name, of one kind or of all, from behind `after` on.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn artifacts(
        &self,
        kind: Option<ArtifactKind>,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Artifact>> {
        artifact::list(self.rows(), kind, after, limit)
    }

    // --- events ---------------------------------------------------------------------------------

    /// The newest `limit` events before `before` that name `value` as their ref of that kind.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn with_ref(
        &self,
        kind: RefKind,
        value: &str,
        before: Option<u64>,
        limit: usize,
    ) -> Result<SeqPage> {
        message::fold::page(
            self.rows(),
            &key::series(key::POSTINGS + kind as u8, value.as_bytes()),
            before,
            limit,
        )
    }
    /// Where an event lies; `None` past the state's end.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn place(&self, seq: u64) -> Result<Option<Place>> {
        let Some(last) = self.tail.last else {
            return Ok(self.overlay.store().place(seq)?);
        };
        let first = last.seq + 1 - self.tail.places.len() as u64;
        match seq.checked_sub(first) {
            Some(at) => Ok(self.tail.places.get(at as usize).copied()),
            None => Ok(self.overlay.store().place(seq)?),
        }
    }
    /// Reads an event by its seq.
    ///
    /// # Errors
    /// `Corrupt`, I/O, `Derived`.
    pub fn event(&self, reader: &Reader, seq: u64) -> Result<Option<Event<'static>>> {
        match self.place(seq)? {
            Some(place) => Ok(Some(reader.at(place)?)),
            None => Ok(None),
        }
    }
    /// Reads the message that an event recorded.
    ///
    /// # Errors
    /// As [`Live::event`]; `Undecodable` if it recorded none.
    pub fn sent(&self, reader: &Reader, seq: u64) -> Result<Option<Message>> {
        match self.event(reader, seq)? {
            Some(event) => fact::message(&event).map(Some),
            None => Ok(None),
        }
    }
}
