//! The daemon that runs a subscription, as the list of subscriptions, `doctor` and the page show it.

use super::{SubscriptionFiles, SubscriptionState};
use crate::operation::prelude::*;

/// Maximum number of characters of a stored error.
const ERROR_MAX: usize = 500;

/// A daemon that handles the events of a subscription
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SubscriptionRunner {
    /// Process id of the daemon
    pub pid: u32,
    /// Target of the events: `exec PROGRAM`, without arguments, or `post https://HOST:PORT`, without path
    pub target: String,
    /// Error of the last delivery, or the reason why no event is delivered; absent after a successful delivery
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
    /// Time of the error
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_error_at: Option<Timestamp>,
}

impl SubscriptionRunner {
    /// Returns the name of the consumer with which the daemon takes the lease.
    pub fn consumer(&self) -> String {
        format!("daemon-{}", self.pid)
    }
}

/// Returns the daemon that runs a subscription. The file of a daemon that was killed counts only until its lease ends, unless the
/// file has an error.
pub(crate) fn shown_runner(
    files: &SubscriptionFiles<'_>,
    (name, state): (&str, &SubscriptionState),
    now: Timestamp,
) -> Option<SubscriptionRunner> {
    let runner = files.runner(name)?;
    let consumer = runner.consumer();
    let is_holder = state.holder(now).is_some_and(|(name, _)| name == consumer);
    (is_holder || runner.last_error.is_some()).then_some(runner)
}

impl Team {
    /// Stores the daemon that runs a subscription, for the list of subscriptions; `None` after the daemon has ended.
    ///
    /// # Errors
    /// `subscription_not_found`, `subscription_damaged`; I/O.
    pub fn record_runner(&mut self, name: &str, runner: Option<&SubscriptionRunner>) -> Result<()> {
        let (files, _) = self.open_subscription(name)?;
        let runner = runner.cloned().map(|mut runner| {
            let error = runner.last_error.take();
            runner.last_error = error.map(|error| error.chars().take(ERROR_MAX).collect());
            runner
        });
        files.keep_runner(runner.as_ref())
    }

    /// Removes the descriptions that earlier daemons left, except for the subscriptions in `kept`.
    ///
    /// # Errors
    /// I/O.
    pub fn forget_runners(&mut self, kept: &[&str]) -> Result<()> {
        for name in SubscriptionFiles::new(self).names()? {
            let files = SubscriptionFiles::new(self);
            if !kept.contains(&name.as_str()) && files.runner(&name).is_some() {
                files.lock(&name)?.keep_runner(None)?;
            }
        }
        Ok(())
    }
}
