//! `list-machines`: the bootstrap contract and the workflow modes as state machines, for callers that draw them. The answer
//! is generated from the tables of the rules.

use crate::bootstrap::events::EVENTS;
use crate::mode::rules::table::rules;
use crate::operation::prelude::*;
use crate::projections::bootstrap::State;
use crate::projections::mode::Mode;
use crate::projections::mode::event::Change;

/// State of a mode that was never started, or was cleared.
const INACTIVE: &str = "inactive";
/// State of a mode that was started and has not ended, in any phase.
const ACTIVE: &str = "active";
const FAILED: &str = "failed";
const CANCELLED: &str = "cancelled";

operation! {
    /// List the bootstrap contract and each mode as a state machine
    "list-machines": Reads(Machines {}) -> MachinesAnswer = |team, _| Ok(team.machines())
}

/// The answer `{machines}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MachinesAnswer {
    /// The bootstrap contract, then every mode
    pub machines: Vec<Machine>,
}

/// A state machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Machine {
    /// `bootstrap`, or the name of the mode
    pub name: Cow<'static, str>,
    /// Title for people
    pub title: String,
    /// Initial state
    pub initial: Cow<'static, str>,
    /// The states
    pub states: Vec<MachineState>,
    /// The transitions; a transition from a state to itself only records an event
    pub steps: Vec<MachineStep>,
}

/// A state of a machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MachineState {
    /// Name of the state
    pub name: Cow<'static, str>,
    /// True if the machine ends in this state
    pub terminal: bool,
}

/// A transition of a machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MachineStep {
    /// State before
    pub from: Cow<'static, str>,
    /// State after
    pub to: Cow<'static, str>,
    /// Event or change that causes the transition
    pub by: Cow<'static, str>,
    /// Further condition of the transition
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doc: Option<Cow<'static, str>>,
}

impl Team {
    /// Returns the state machines. All teams have the same state machines.
    pub fn machines(&self) -> MachinesAnswer {
        let mut machines = vec![bootstrap()];
        machines.extend(Mode::ALL.map(life));
        MachinesAnswer { machines }
    }
}

fn bootstrap() -> Machine {
    let states = State::ALL.map(|state| MachineState {
        name: state.name().into(),
        terminal: state == State::Fallback,
    });
    let mut steps = Vec::new();
    for row in EVENTS {
        let named = |state: &State| row.to.split([' ', ',']).any(|word| word == state.name());
        let to: Vec<State> = State::ALL.into_iter().filter(named).collect();
        for from in row.from {
            let mut step = |to: State| {
                steps.push(MachineStep {
                    from: from.name().into(),
                    to: to.name().into(),
                    by: row.name.into(),
                    doc: Some(row.guard.into()),
                });
            };
            match to.is_empty() {
                true => step(*from),
                false => to.iter().copied().for_each(step),
            }
        }
    }
    Machine {
        name: "bootstrap".into(),
        title: "The bootstrap contract".to_owned(),
        initial: State::Init.name().into(),
        states: states.into(),
        steps,
    }
}

fn life(mode: Mode) -> Machine {
    let ends = [rules(mode).completed_phase, FAILED, CANCELLED];
    let state = |name: &'static str, terminal| MachineState {
        name: name.into(),
        terminal,
    };
    let mut states = vec![state(INACTIVE, false), state(ACTIVE, false)];
    states.extend(ends.map(|end| state(end, true)));
    let step = |from: &'static str, to: &'static str, by: &'static str| MachineStep {
        from: from.into(),
        to: to.into(),
        by: by.into(),
        doc: None,
    };
    let mut steps = vec![
        step(INACTIVE, ACTIVE, "mode_started"),
        step(ACTIVE, INACTIVE, "mode_cleared"),
    ];
    steps.extend(Change::ALL.map(|change| step(ACTIVE, ending(mode, change), change.name())));
    for end in ends {
        steps.push(step(end, ACTIVE, "mode_started"));
        steps.push(step(end, INACTIVE, "mode_cleared"));
    }
    Machine {
        name: mode.name().into(),
        title: format!("The life of {}", mode.name()),
        initial: INACTIVE.into(),
        states,
        steps,
    }
}

/// Returns the state of an active mode after the change.
fn ending(mode: Mode, change: Change) -> &'static str {
    match change {
        Change::Updated => ACTIVE,
        Change::Completed | Change::AutoCompleted => rules(mode).completed_phase,
        Change::Failed => FAILED,
        Change::Canceled => CANCELLED,
    }
}
