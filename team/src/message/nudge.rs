//! `nudge`: wakes idle agents that have unread mail, posts or news of their tasks, once per cooldown. A timer can run this
//! command: repeated calls are harmless. Mail wakes an agent until the agent acknowledges it. Posts and news wake an agent
//! once.
//!
//! An agent is idle if its last event is old enough, or if that event reports idleness. A wake-up is itself a message, but
//! an unread wake-up alone wakes no agent. An agent with an unread wake-up gets no second one; the nudge is then recorded as
//! suppressed.

use crate::message::notices;
use crate::message::send::{NewMessage, Send, within};
use crate::operation::prelude::*;
use crate::projections::message::AgentInfo;
use crate::shapes::is_none_of;
use crate::time::AHEAD_TOLERATED_MICROS;

/// Maximum number of agents that one group nudges.
const GROUP_MAX: usize = 100;

/// Distance between the random bits of two message ids in one group, so that the ids differ.
const IDS_APART: u64 = 1 << 24;

operation! {
    /// Wake idle agents that have mail, posts or news of their tasks, once per cooldown
    "nudge": Records(Nudge {
        /// Report the agents to nudge without recording anything
        #[serde(default)]
        #[arg(long)]
        dry_run: bool,
        /// Shortest time between two nudges of an agent, in seconds; the setting `nudge.cooldown_seconds` if absent
        #[arg(long, value_name = "SECONDS", value_parser = crate::argv::whole::<u64>)]
        cooldown_seconds: Option<u64>,
        /// Seconds without an event of an agent after which the agent is idle; the setting `nudge.idle_seconds` if absent
        #[arg(long, value_name = "SECONDS", value_parser = crate::argv::whole::<u64>)]
        idle_seconds: Option<u64>,
    }) -> NudgeAnswer = Team::nudge,
    refuses = [WorkerNotFound]
}

/// The answer `{team, now, dry_run, cooldown_seconds, idle_seconds, nudged, count, reminded, skipped}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NudgeAnswer {
    /// Name of the team.
    pub team: String,
    /// Time for which idleness was computed.
    pub now: String,
    /// True if nothing was sent.
    pub dry_run: bool,
    /// Shortest time between two nudges of an agent, in seconds.
    pub cooldown_seconds: u64,
    /// Seconds without an event of an agent after which the agent counts as idle.
    pub idle_seconds: u64,
    /// Agents that were nudged, by name. In a dry run: agents that would be nudged.
    pub nudged: Vec<Nudged>,
    /// Number of agents in `nudged`.
    pub count: usize,
    /// Agents that already have an unread wake-up, so that they got no second wake-up. Each is listed once per cooldown;
    /// `message_id` is the unread wake-up.
    pub reminded: Vec<Nudged>,
    /// Counts of agents with unread mail, posts or news that were not nudged.
    pub skipped: Skipped,
}

impl NudgeAnswer {
    /// Returns all agents for which `--exec` runs its program: the agents in `nudged` and in `reminded`.
    pub fn all(&self) -> impl Iterator<Item = &Nudged> {
        self.nudged.iter().chain(&self.reminded)
    }
}

/// The JSON object `{agent, unread, posts?, news?, idle_since, message_id?, seq?, exec?}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Nudged {
    /// Name of the agent.
    pub agent: String,
    /// Number of unread messages; wake-ups are not counted.
    pub unread: u64,
    /// Number of unread posts in threads.
    #[serde(default, skip_serializing_if = "is_none_of")]
    pub posts: u64,
    /// Number of news items of the agent's tasks since the agent last recorded something.
    #[serde(default, skip_serializing_if = "is_none_of")]
    pub news: u64,
    /// Time of the agent's last activity; `null` if there is none.
    pub idle_since: Option<String>,
    /// Id of the agent's new or unread wake-up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_id: Option<String>,
    /// Seq of the event that records the nudge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// Result of the program that `--exec` ran for the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exec: Option<Executed>,
}

impl Nudged {
    /// Returns the payload of the wake-up. Fields that are zero are left out, except `unread`.
    fn reason(&self) -> Value {
        let mut reason = json!({"reason": "unread", "unread": self.unread});
        for (name, count) in [("posts", self.posts), ("news", self.news)] {
            if let (Some(fields), true) = (reason.as_object_mut(), count > 0) {
                fields.insert(name.to_owned(), count.into());
            }
        }
        reason
    }

    /// Returns true if a program should have run for the agent and failed.
    pub fn failed(&self) -> bool {
        let exec = self.exec.as_ref();
        exec.is_some_and(|exec| exec.status != ExecStatus::Ok)
    }
}

/// The JSON object `{active, cooling}`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Skipped {
    /// Agents that are not idle.
    pub active: u64,
    /// Agents that were nudged within the cooldown.
    pub cooling: u64,
}

/// Result of a program that ran for a nudge: `{status, exit_code?, error?}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Executed {
    /// Status with which the program ended.
    pub status: ExecStatus,
    /// Exit code of the program, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// Error that kept the program from running.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Status with which a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExecStatus {
    /// Exit code 0.
    Ok,
    /// Another exit code, or the program did not start.
    Failed,
    /// The program ran too long and was killed.
    TimedOut,
}

/// Sender, cooldown and idle time for a run of `nudge`.
#[derive(Debug, Clone)]
struct Terms {
    from: String,
    cooldown_seconds: u64,
    idle_seconds: u64,
}

#[derive(Debug, Clone)]
struct Group {
    terms: Terms,
    agents: Vec<String>,
    random: u64,
}

impl Team {
    /// Nudges idle agents that have mail, posts or news.
    pub fn nudge(&mut self, nudge: Nudge) -> Result<NudgeAnswer> {
        if let Some(first) = self.answer_under_key()? {
            return Ok(first);
        }
        let actor = self.acting(self.control.actor.clone())?;
        let from = actor.unwrap_or_else(|| LEADER.to_owned());
        let now = self.options.clock.now();
        let (terms, due, skipped) = self.query(|live, _| {
            let terms = Terms::read(live, &nudge, &from)?;
            let (due, skipped) = terms.candidates(live, now)?;
            Ok((terms, due, skipped))
        })?;
        let due = match nudge.dry_run {
            true => due,
            false => self.record_nudges(&terms, &due)?,
        };
        let (reminded, nudged): (Vec<Wake>, Vec<Wake>) =
            due.into_iter().partition(|wake| wake.has_one);
        let shown = |wakes: Vec<Wake>| wakes.into_iter().map(|wake| wake.nudged).collect();
        let answer = NudgeAnswer {
            team: self.name().to_owned(),
            now: now.to_string(),
            dry_run: nudge.dry_run,
            cooldown_seconds: terms.cooldown_seconds,
            idle_seconds: terms.idle_seconds,
            count: nudged.len(),
            nudged: shown(nudged),
            reminded: shown(reminded),
            skipped,
        };
        match nudge.dry_run {
            true => Ok(answer),
            false => self.store_under_key(answer),
        }
    }

    fn record_nudges(&mut self, terms: &Terms, due: &[Wake]) -> Result<Vec<Wake>> {
        let mut all = Vec::with_capacity(due.len());
        for group in due.chunks(GROUP_MAX) {
            let group = Group {
                terms: terms.clone(),
                agents: group.iter().map(|wake| wake.nudged.agent.clone()).collect(),
                random: self.options.ids.random()?,
            };
            all.extend(self.execute_unkeyed(group)?);
        }
        Ok(all)
    }
}

/// Kinds of the events that record a nudge.
const WAKE_KINDS: [&str; 2] = ["message_sent", "message_suppressed"];

#[derive(Debug, Clone)]
struct Wake {
    nudged: Nudged,
    /// True if the agent already has an unread wake-up.
    has_one: bool,
}

impl Command for Group {
    type Decided = Vec<Wake>;
    type Answer = Vec<Wake>;

    fn terms(&self) -> CommandTerms<'_> {
        CommandTerms::new(Authority::Anyone)
    }

    /// Checks each agent again under the lock, because an agent possibly became active or was nudged in the meantime.
    fn decide(&self, ctx: &Ctx, live: &Live) -> Result<Decision<Vec<Wake>>> {
        let (mut due, mut events) = (Vec::new(), Vec::<NewEvent>::new());
        let mut random = self.random;
        for agent in &self.agents {
            let Readiness::Waits(wake) = self.terms.standing(live, live.agent(agent)?, ctx.now)?
            else {
                continue;
            };
            let new = NewMessage {
                send: self.terms.wake_up(&wake.nudged),
                random,
                first: None,
            };
            random = random.wrapping_add(IDS_APART);
            if wake.has_one {
                let message = new.message(live, ctx.now)?;
                events.push(message.withheld().map_err(Refusal::from)?);
            } else {
                let (_, decided) = new.settle(live, ctx.now)?;
                // If the first wake-up adds the sender to the team, drops the equal events of later wake-ups.
                let joined = events.iter().any(|event| event.kind == "message_sent");
                let new = decided.into_iter();
                events.extend(new.filter(|event| !joined || event.kind == "message_sent"));
            }
            due.push(wake);
        }
        Ok(Decision::Granted(due, events))
    }

    fn answer(&self, due: &Vec<Wake>, after: &After<'_>) -> Result<Vec<Wake>> {
        let recorded = after.events.iter();
        let recorded = recorded.filter(|event| WAKE_KINDS.contains(&&*event.kind));
        let told = due.iter().zip(recorded).map(|(wake, event)| {
            let mut wake = wake.clone();
            wake.nudged.seq = Some(event.seq);
            if !wake.has_one {
                let id = event.refs.get(RefKind::Message);
                wake.nudged.message_id = id.map(str::to_owned);
            }
            wake
        });
        Ok(told.collect())
    }
}

enum Readiness {
    NoMail,
    Active,
    Cooling,
    Waits(Wake),
}

impl Terms {
    fn read(live: &Live, nudge: &Nudge, from: &str) -> Result<Terms> {
        membership::check(live, "actor", from)?;
        let seconds = |field, setting, asked: Option<u64>| -> Result<u64> {
            Ok(match asked {
                Some(seconds) => within(field, setting, seconds)?,
                None => live.setting(setting)?.0.number(),
            })
        };
        let (cooldown, idle) = (nudge.cooldown_seconds, nudge.idle_seconds);
        Ok(Terms {
            from: from.to_owned(),
            cooldown_seconds: seconds("cooldown_seconds", Setting::NudgeCooldown, cooldown)?,
            idle_seconds: seconds("idle_seconds", Setting::NudgeIdle, idle)?,
        })
    }

    fn candidates(&self, live: &Live, now: Timestamp) -> Result<(Vec<Wake>, Skipped)> {
        let (mut due, mut skipped) = (Vec::new(), Skipped::default());
        let mut agents: BTreeSet<String> = live.task_owners()?.into_iter().collect();
        agents.extend(live.agents()?.into_iter().map(|agent| agent.name));
        agents.extend(
            live.all_post_counts()?
                .into_iter()
                .map(|counts| counts.agent),
        );
        for agent in agents {
            if live.is_retired(&agent)? {
                continue;
            }
            match self.standing(live, live.agent(&agent)?, now)? {
                Readiness::NoMail => {}
                Readiness::Active => skipped.active += 1,
                Readiness::Cooling => skipped.cooling += 1,
                Readiness::Waits(wake) => due.push(wake),
            }
        }
        Ok((due, skipped))
    }

    fn standing(&self, live: &Live, agent: AgentInfo, now: Timestamp) -> Result<Readiness> {
        let unread = agent.unread.saturating_sub(agent.wakeups);
        // Skips the fixed leader, which is not a process, and the sender, which is awake.
        if agent.name == LEADER || agent.name == self.from {
            return Ok(Readiness::NoMail);
        }
        let last = live.last_sent(&agent.name, None, MessageType::AgentWakeupRequired)?;
        let has_one = agent.wakeups > 0;
        // An agent with an unread wake-up may be reminded of old posts and news. Any other agent wakes only for posts and news
        // that are newer than its last wake-up.
        let woken = last.filter(|_| !has_one).map_or(0, |last| last.seq);
        let counts = live.post_counts(&agent.name)?;
        let posts = counts.unread();
        let news = notices::news_count(live, &agent.name)?;
        let last_news = live.last_task_news(&agent.name)?.unwrap_or(0);
        let is_new = (posts > 0 && counts.last_seq > woken) || (news > 0 && last_news > woken);
        if unread == 0 && !is_new {
            return Ok(Readiness::NoMail);
        }
        let within = |at: Timestamp, seconds: u64| {
            let micros = i64::try_from(seconds.saturating_mul(1_000_000)).unwrap_or(i64::MAX);
            // Ignores a time far in the future. Times in the log never go back, so such a time comes from a clock that was ahead.
            at <= now.plus_micros(AHEAD_TOLERATED_MICROS) && now < at.plus_micros(micros)
        };
        let activity = live.activity(&agent.name)?;
        if activity.is_some_and(|last| !last.said_idle && within(last.at, self.idle_seconds)) {
            return Ok(Readiness::Active);
        }
        if last.is_some_and(|last| within(last.at, self.cooldown_seconds)) {
            return Ok(Readiness::Cooling);
        }
        let message_id = match last.filter(|_| has_one) {
            Some(last) => live.unread_id(last.seq)?,
            None => None,
        };
        let nudged = Nudged {
            agent: agent.name,
            unread,
            posts,
            news,
            idle_since: activity.map(|last| last.at.to_string()),
            message_id,
            seq: None,
            exec: None,
        };
        Ok(Readiness::Waits(Wake { nudged, has_one }))
    }

    fn wake_up(&self, nudged: &Nudged) -> Send {
        Send {
            from: self.from.clone(),
            to: nudged.agent.clone(),
            kind: MessageType::AgentWakeupRequired.name().to_owned(),
            payload: Some(nudged.reason().to_string()),
            ..Send::default()
        }
    }
}
