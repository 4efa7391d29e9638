//! `send --wait`: blocks the sender until its message is acknowledged or becomes a dead letter. Like `tick`, a waiting
//! sender records the due steps of its own message. If the sender dies, `tick` or the next waiting sender continues.

use crate::command::deadline::Deadline;
use crate::lifecycle::tick::Round;
use crate::log::recorded::Recorded;
use crate::message::dead_letter;
use crate::message::send::{Send, SendAnswer, SendStatus, Terms};
use crate::operation::prelude::*;
use crate::projections::delivery::{Delivery, State};
use teamlog_engine::Watch;

/// Longest wait before the clock is read again, because the clock can jump.
const LOOK_AGAIN: Duration = Duration::from_secs(5);
/// Pause before the next attempt while another process holds the log's lock.
const WHILE_LOCKED: Duration = Duration::from_millis(100);

impl Team {
    /// Sends a message that requires an ack, and blocks until the message is acknowledged or becomes a dead letter. If the message
    /// was sent earlier and still waits for its ack, this function waits for that ack, so that a killed sender can be started
    /// again. If the earlier message requires no ack, the answer says that the message is a duplicate. After the deadline, the
    /// answer contains the present state of the message, which is recorded and still waits for its ack.
    pub fn send_and_wait(&mut self, mut send: Send, deadline: &Deadline) -> Result<SendAnswer> {
        send.delivery.get_or_insert_default();
        let actor = self.acting(self.control.actor.clone())?;
        let actor = actor.unwrap_or_else(|| send.from.clone());
        // The watch starts before the send, so that no ack is missed.
        let mut watch = self.log.watch()?;
        let answer = self.send(send)?;
        match answer.status {
            SendStatus::Suppressed => Ok(answer),
            _ => self.await_ack(answer, &actor, &mut watch, deadline),
        }
    }

    fn await_ack(
        &mut self,
        mut answer: SendAnswer,
        actor: &str,
        watch: &mut Watch,
        deadline: &Deadline,
    ) -> Result<SendAnswer> {
        let id = answer.message.id.clone();
        loop {
            let Some(delivery) = self.query(|live, _| Ok(live.delivery(&id)?))? else {
                return Ok(answer);
            };
            answer
                .delivery
                .get_or_insert_with(|| Terms::from_delivery(&delivery));
            match delivery.state {
                State::Open if deadline.is_over() => return Ok(answer),
                State::Open => self.pass(&delivery, actor, watch, deadline)?,
                State::Acked(seq) => {
                    answer.status = SendStatus::Acked;
                    answer.attempt = Some(delivery.attempt);
                    let event = self.query(|live, reader| crate::page::event(live, reader, seq))?;
                    answer.ack = Some(Recorded::plain(event));
                    return Ok(answer);
                }
                State::Dead(seq) => {
                    answer.status = SendStatus::DeadLetter;
                    answer.dead_letter = self.query(|live, reader| {
                        let shown = |letter| dead_letter::shown(live, reader, letter);
                        live.dead_letter_at(seq)?.map(shown).transpose()
                    })?;
                    return Ok(answer);
                }
            }
        }
    }

    /// Waits until the delivery has possibly changed, then records the delivery's due events.
    fn pass(
        &mut self,
        delivery: &Delivery,
        actor: &str,
        watch: &mut Watch,
        deadline: &Deadline,
    ) -> Result<()> {
        let now = self.options.clock.now();
        let left = delivery.due_at().micros().saturating_sub(now.micros());
        if left > 0 {
            let left = Duration::from_micros(left.unsigned_abs()).min(LOOK_AGAIN);
            return self.doze(watch, left, deadline);
        }
        let round = Round {
            now,
            message_id: Some(delivery.message_id.clone()),
            actor: actor.to_owned(),
        };
        match self.rounds(&round) {
            Ok(_) => Ok(()),
            // Waits, because the process that holds the lock is possibly recording the ack.
            Err(failure) if failure.is_locked() => {
                watch.wait(Some(WHILE_LOCKED))?;
                Ok(())
            }
            Err(failure) => Err(failure),
        }
    }

    /// Waits until the log grows, the time `left` is over, or the caller's deadline is over.
    fn doze(&mut self, watch: &mut Watch, left: Duration, deadline: &Deadline) -> Result<()> {
        let since = Instant::now();
        loop {
            let left = left.saturating_sub(since.elapsed());
            let woken = self.watched(watch, deadline.step(Some(left)))?;
            if woken || left.is_zero() || deadline.is_over() {
                return Ok(());
            }
        }
    }
}
