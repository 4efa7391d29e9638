//! Operations on messages and their delivery.

use super::operation::Op;
use crate::failure::Result;
use crate::handle::team::Team;
use crate::message::broadcast::{Broadcast, BroadcastAnswer};
use crate::message::mailbox_list::{MailboxList, MailboxListAnswer};
use crate::message::mailbox_mark::{
    MarkDelivered, MarkDeliveredAnswer, MarkNotified, MarkNotifiedAnswer,
};
use crate::message::send_message::{SendMessage, SendMessageAnswer};
use crate::refusal::Refusal;

impl Op for SendMessage {
    type Data = SendMessageAnswer;
    const NAME: &'static str = "send-message";
    const DOC: &'static str = "Send plain mail to a worker, and request that it be told";
    const MUTATES: bool = true;

    fn run(self, team: &mut Team) -> Result<SendMessageAnswer> {
        team.send_message(self)
    }
}

impl Op for Broadcast {
    type Data = BroadcastAnswer;
    const NAME: &'static str = "broadcast";
    const DOC: &'static str = "Send plain mail to every worker but the sender";
    const MUTATES: bool = true;

    fn run(self, team: &mut Team) -> Result<BroadcastAnswer> {
        team.broadcast(self)
    }
}

impl Op for MailboxList {
    type Data = MailboxListAnswer;
    const NAME: &'static str = "mailbox-list";
    const DOC: &'static str = "List a worker's mail, oldest first";
    const MUTATES: bool = false;
    const ANSWERS_EMPTY: bool = true;

    fn run(self, team: &mut Team) -> Result<MailboxListAnswer> {
        team.mailbox_list(&self)
    }

    fn without_team(&self, _: Refusal) -> Result<MailboxListAnswer> {
        Ok(self.empty())
    }
}

impl Op for MarkNotified {
    type Data = MarkNotifiedAnswer;
    const NAME: &'static str = "mailbox-mark-notified";
    const DOC: &'static str = "Mark a message as one that its recipient was told of";
    const MUTATES: bool = true;

    fn run(self, team: &mut Team) -> Result<MarkNotifiedAnswer> {
        team.mark_notified(self)
    }
}

impl Op for MarkDelivered {
    type Data = MarkDeliveredAnswer;
    const NAME: &'static str = "mailbox-mark-delivered";
    const DOC: &'static str = "Mark a message as one that its recipient has";
    const MUTATES: bool = true;
    const ANSWERS_EMPTY: bool = true;

    fn run(self, team: &mut Team) -> Result<MarkDeliveredAnswer> {
        team.mark_delivered(self)
    }

    fn without_team(&self, _: Refusal) -> Result<MarkDeliveredAnswer> {
        Ok(self.clone().unknown())
    }
}
