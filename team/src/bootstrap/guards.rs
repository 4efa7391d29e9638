//! Rules for reports between `INIT` and `RUNNING`, with their conditions and effects.

use super::*;

/// Records the answer of TeamCreate. Accepts a second answer only if the first answer led to no
/// branch.
pub fn probed(run: &Run, probe: &Probe) -> Ruled {
    let leads = run.probe.as_ref().is_some_and(|known| {
        known.outcome == Outcome::Unavailable
            || (known.outcome.is_usable() && known.team_name.is_some())
    });
    if run.state == State::TeamProbed && leads {
        return Err(illegal(
            run,
            "team_create_returned",
            "the answer of TeamCreate is already recorded",
        )
        .hint("next, report branch_taken for the recorded answer"));
    }
    let warning = match (probe.outcome, &probe.team_name) {
        (Outcome::Unrecognised, _) => {
            Some("the answer was not recognised; read it, and report its outcome")
        }
        (Outcome::AlreadyLeading, None) => Some(
            "the answer names no team; ask for the name and give it with branch_taken; never guess it",
        ),
        _ => None,
    };
    Ok(Accepted::one(BootstrapAct::Probed(probe.clone())).warned(warning))
}

/// Takes the branch that belongs to the outcome of TeamCreate.
pub fn branched(run: &Run, asked: Option<Case>, name: Option<&str>) -> Ruled {
    let mismatch =
        |message: String| Err(Refusal::new(Code::BranchMismatch, message).field("data.case"));
    let probe = run.probe.as_ref();
    let Some(case) = probe.and_then(|probe| probe.outcome.case()) else {
        return mismatch(
            "the answer of TeamCreate was not recognised, so it has no case".to_owned(),
        );
    };
    if let Some(asked) = asked.filter(|asked| *asked != case) {
        let (case, asked) = (case.name(), asked.name());
        return mismatch(format!(
            "data.case must be {case}, as the answer of TeamCreate says, but is {asked}"
        ));
    }
    if case == Case::C {
        return Ok(Accepted::one(BootstrapAct::BranchTaken {
            case,
            team_name: None,
        }));
    }
    let known = run.known_team_name();
    let team_name = match (known, name) {
        (Some(known), Some(name)) if known != name => {
            return mismatch(format!(
                "data.team_name must be {known:?}, as the answer of TeamCreate says, but is {name:?}"
            ));
        }
        (known, name) => known.or(name).map(str::to_owned),
    };
    if team_name.is_none() {
        let message = "the answer of TeamCreate names no team, so data.team_name is required";
        let refusal = Refusal::new(Code::BranchMismatch, message).field("data.team_name");
        return Err(refusal.hint("ask the leader for the name of the team; never guess it"));
    }
    Ok(Accepted::one(BootstrapAct::BranchTaken { case, team_name }))
}

/// Enters the fallback if no team can be created or launched.
pub fn fallen_back(run: &Run, reason: Option<&String>) -> Ruled {
    let outcome = run.probe.as_ref().map(|probe| probe.outcome);
    if run.state == State::TeamProbed && outcome != Some(Outcome::Unavailable) {
        let message = "FALLBACK requires that TeamCreate answered `unavailable`, but its recorded answer was not recognised";
        return Err(Refusal::new(Code::BranchMismatch, message));
    }
    let said = run.blocked.clone().filter(|raw| !raw.is_empty());
    let said = said.or_else(|| run.probe.as_ref().and_then(|probe| probe.message.clone()));
    Ok(Accepted::one(BootstrapAct::FallbackEntered {
        reason: reason.cloned().or(said),
    }))
}

/// Records that no team can be launched. The state of the run does not change.
pub fn blocked(run: &Run, raw: Option<&String>) -> Ruled {
    let code = Code::BlockedTeamLaunchUnavailable;
    let why = "the platform cannot launch a team".to_owned();
    let blocked = BootstrapAct::Blocked {
        code: code.as_str().to_owned(),
        at_state: run.state,
        raw: raw.cloned(),
    };
    Ok(Accepted::one(blocked).despite(code, None, why))
}

/// Checks that the roster contains the core and all selected domains, without duplicates.
pub fn roster(run: &Run, core: Option<&[Core]>, domains: Option<&[String]>) -> Ruled {
    let incomplete = |field, rule: &str| Err(broken(Code::RosterIncomplete, field, rule));
    if let Some(core) = core {
        let given: BTreeSet<Core> = core.iter().copied().collect();
        if given.len() != core.len() || given.len() != Core::ALL.len() {
            let rule = "must be obstruction-theorist and synthesizer, each once";
            return incomplete("core", rule);
        }
    }
    let domains = domains.unwrap_or(&run.selected);
    if domains.is_empty() {
        return incomplete("domains", "must contain at least one domain");
    }
    let mut seen = BTreeSet::new();
    if let Some(twice) = domains.iter().find(|name| !seen.insert(*name)) {
        let rule = format!("must contain each domain once, but contains {twice:?} twice");
        return incomplete("domains", &rule);
    }
    let is_core = |domain: &&String| Core::from_any_case(domain).is_some();
    if let Some(core) = domains.iter().find(is_core) {
        let rule = format!("must contain domains only, but {core:?} is a core member");
        return incomplete("domains", &rule);
    }
    let missing = run.selected.iter().filter(|name| !domains.contains(name));
    let missing: Vec<&str> = missing.map(String::as_str).collect();
    if !missing.is_empty() {
        let missing = missing.join(", ");
        let rule = format!("must contain every selected domain, but {missing} is missing");
        return incomplete("domains", &rule);
    }
    Ok(Accepted::one(BootstrapAct::RosterBuilt {
        core: Core::ALL.to_vec(),
        domains: domains.to_vec(),
    }))
}

/// Records the launch of the whole roster at once. [`super::breach`] has checked that no member is missing.
pub fn launched(run: &Run, how: How, members: &[String]) -> Ruled {
    let How::Team(method) = how else {
        let why = "members are launched by tasks";
        return Err(illegal(run, "team_launched", why));
    };
    let roster = run.roster.as_deref().unwrap_or_default();
    let stranger = |name: &&String| !roster.contains(name) && core_named(name).is_none();
    if let Some(stranger) = members.iter().find(stranger) {
        let rule = format!("must be members of the roster, but {stranger:?} is not");
        return Err(broken(Code::RosterIncomplete, "members", &rule));
    }
    let core = Core::ALL.iter().map(|core| core.name().to_owned());
    Ok(Accepted::one(BootstrapAct::TeamLaunched {
        method,
        members: core.chain(roster.iter().cloned()).collect(),
        due_at: None,
    }))
}

/// Records an ack of this launch from a core member.
pub fn ready(run: &Run, from: &Participant, launch: Option<u32>) -> Ruled {
    let event = "core_ready_ack";
    let Participant::Core(from) = from else {
        return Err(illegal(run, event, "its sender is not a core member").field("data.from"));
    };
    if let Some(launch) = launch.filter(|launch| *launch != run.launches) {
        let last = run.launches;
        let why = format!("it belongs to launch {launch}, but the current launch is {last}");
        return Err(illegal(run, event, &why).field("data.launch"));
    }
    match run.handshake(*from).acked {
        true => Ok(Accepted::known("the ack is already recorded")),
        false => Ok(Accepted::one(BootstrapAct::CoreAcked { from: *from })),
    }
}

/// Records a second launch of the core members whose acks are missing.
pub fn relaunched(run: &Run, missing: Option<&[Core]>) -> Ruled {
    let missing = match missing {
        Some(missing) => missing.to_vec(),
        None if run.missing.is_empty() => run.unready(),
        None => run.missing.clone(),
    };
    if missing.is_empty() {
        let why = "both core members have sent their acks";
        return Err(illegal(run, "core_relaunched", why));
    }
    Ok(Accepted::one(BootstrapAct::CoreRelaunched {
        missing,
        due_at: None,
    }))
}

/// Enters `RUNNING` if the evidence is complete and agrees with the log.
pub fn running(run: &Run, evidence: Option<&Map<String, Value>>) -> Ruled {
    let evidence = proof::checked(run, evidence)?;
    Ok(Accepted::one(BootstrapAct::RunningEntered { evidence }))
}
