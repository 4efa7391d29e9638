//! Team settings that a setup proposes: the guard's answer to builds and tests. A setting that has a value stays unchanged.

use super::parts::{Plan, State};
use super::project;
use crate::call::Call;
use crate::command::prelude::*;
use teamlog_team::lifecycle::config::ConfigSet;
use teamlog_team::projections::team::settings::{ALLOW_WHEN_FREE, Setting};

/// A setting that the setup proposes.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SettingPart {
    /// `guard.unknown` or `guard.known`.
    key: String,
    /// Value of the setting after the setup.
    value: String,
    /// State of the setting.
    status: State,
}

impl SettingPart {
    /// Returns the settings of the setup. A setting without a value gets the proposed value.
    pub fn wanted(plan: &Plan, dir: &Path) -> Vec<SettingPart> {
        let rules = &plan.rules;
        let mut parts = Vec::new();
        // A hook with its own `--on-unknown` does not read the team's setting.
        if plan.hook.on_unknown.is_none() {
            let set = rules
                .unknown_is_set
                .then(|| rules.unknown.name().to_owned());
            parts.push(part(Setting::GuardUnknown, set, ALLOW_WHEN_FREE.to_owned()));
        }
        let commands = project::commands(dir).join(", ");
        let set = rules.known_is_set.then(|| rules.known.clone());
        if set.is_some() || !commands.is_empty() {
            parts.push(part(Setting::GuardKnown, set, commands));
        }
        parts
    }

    pub fn is_current(&self) -> bool {
        self.status == State::Current
    }

    /// Sets the status of a missing setting to written, or to "would be written" if `dry`.
    pub fn written(&mut self, dry: bool) {
        if !self.is_current() {
            self.status = if dry {
                State::WouldWrite
            } else {
                State::Written
            };
        }
    }

    pub fn line(&self, view: &View) -> String {
        self.status.line(view, &self.key, &self.value)
    }
}

/// Sets the settings that are not current. Returns false if the token of an agent on another machine does not allow
/// changes of settings.
pub fn write(
    parts: &[SettingPart],
    context: &mut Context,
    team: &str,
) -> Result<bool, CommandError> {
    for part in parts.iter().filter(|part| !part.is_current()) {
        let set = ConfigSet {
            setting: part.key.clone(),
            value: part.value.clone(),
        };
        match context.execute(&Call::operation(), team, set) {
            Err(error) if context.is_remote() && error.code() == "forbidden" => return Ok(false),
            done => done.map(drop)?,
        }
    }
    Ok(true)
}

fn part(setting: Setting, set: Option<String>, proposed: String) -> SettingPart {
    SettingPart {
        key: setting.key(),
        status: if set.is_some() {
            State::Current
        } else {
            State::Missing
        },
        value: set.unwrap_or(proposed),
    }
}

/// Returns the commands of the project that `guard.known` lacks, if the team has set `guard.known`.
pub fn not_known(plan: &Plan, dir: &Path) -> Vec<String> {
    if !plan.rules.known_is_set {
        return Vec::new();
    }
    let known: Vec<&str> = plan.rules.known.split(", ").collect();
    let is_known = |command: &String| {
        let covers = |entry: &&str| command == entry || command.starts_with(&format!("{entry} "));
        known.iter().any(covers)
    };
    let mut commands = project::commands(dir);
    commands.retain(|command| !is_known(command));
    commands
}
