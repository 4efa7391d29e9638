//! `rename-agent`: retires an agent under its old name, and hands its open tasks and later mail to the new name.

use crate::message::send::{NewMessage, Send};
use crate::ownership::retire::{RetireAnswer, leave};
use crate::ownership::takeover;
use crate::task::prelude::*;

operation! {
    /// Rename an agent: the new name gets its open tasks and later mail; history keeps the old name
    "rename-agent": Records(RenameAgent {
        /// Present name of the agent
        #[arg(value_name = "AGENT")]
        agent: String,
        /// New name
        #[arg(value_name = "NEW")]
        new_name: String,
        /// Only list what would change
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[arg(long)]
        dry_run: bool,
    }) -> RetireAnswer = Team::rename_agent,
    refuses = [WorkerNotFound],
    scope = Operate
}

impl Team {
    /// Renames an agent.
    ///
    /// # Errors
    /// `worker_not_found` if the team has no such agent; `invalid_input` for the new name; errors of the log.
    pub fn rename_agent(&mut self, rename: RenameAgent) -> Result<RetireAnswer> {
        let answer = self.execute(rename)?;
        self.after_leaving(answer)
    }
}

impl Command for RenameAgent {
    type Decided = RetireAnswer;
    type Answer = RetireAnswer;

    fn terms(&self) -> CommandTerms<'_> {
        CommandTerms::new(Authority::Anyone)
            .named(false)
            .members_only()
    }

    fn decide(&self, ctx: &Ctx, live: &Live) -> Result<Decision<RetireAnswer>> {
        let new = &*self.new_name;
        let (answer, mut events) = leave(live, ctx, &self.agent, Some(new))?;
        self.check_new(live)?;
        if !live.is_member(new)? {
            let members = vec![self.new_name.clone()];
            let added = TeamFact::MembersAdded(MembersAdded { members }).event(DEFAULT_ACTOR);
            events.push(added);
        }
        if answer.unread > 0 {
            events.push(self.tell(live, ctx, answer.unread)?);
        }
        if self.dry_run {
            events.clear();
        }
        Ok(Decision::Granted(
            RetireAnswer {
                dry_run: self.dry_run,
                ..answer
            },
            events,
        ))
    }

    fn answer(&self, answer: &RetireAnswer, _: &After<'_>) -> Result<RetireAnswer> {
        Ok(answer.clone())
    }
}

impl RenameAgent {
    /// Refuses a new name that is not a valid name, that an agent of the team has, or that a retired agent had.
    fn check_new(&self, live: &Live) -> Result<()> {
        let new = &*self.new_name;
        names::check_new("new_name", new)?;
        let rule = match live.is_retired(new)? {
            true => "must not be the name of a retired agent",
            false if new == LEADER || live.is_member(new)? => {
                "must not be the name of an agent of this team"
            }
            false => return Ok(()),
        };
        Err(Refusal::invalid("new_name", new, rule).into())
    }

    /// Returns the message that tells the renamed agent about unread mail to its old name.
    fn tell(&self, live: &Live, ctx: &Ctx, unread: u64) -> Result<NewEvent> {
        let sender = takeover::sender(ctx, None);
        let from = match membership::check(live, "actor", sender) {
            Ok(()) if sender != self.agent => sender,
            _ => LEADER,
        };
        let old = &self.agent;
        let body = format!(
            "{old} is now called {}. Unread messages to {old}, now in your inbox: {unread}",
            self.new_name
        );
        let new = NewMessage {
            send: Send {
                from: from.to_owned(),
                to: self.new_name.clone(),
                kind: MessageType::Message.name().to_owned(),
                payload: Some(json!({ "body": body }).to_string()),
                ..Send::default()
            },
            random: ctx.ids.random()?,
            first: None,
        };
        let message = new.message(live, ctx.now)?;
        let mut event = message.sent_without(ctx.now, &[]).map_err(Refusal::from)?;
        event.cause = Some(Cause::Earlier(0));
        Ok(event)
    }
}
