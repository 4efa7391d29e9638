//! The rules for reports on the way from `INIT` to `RUNNING`: what has to hold, and what the report then does.

use super::*;

/// The answer of TeamCreate: once, and again only where the one before led nowhere.
pub fn probed(run: &Run, probe: &Probe) -> Ruled {
    let leads = run.probe.as_ref().is_some_and(|known| {
        known.outcome == Outcome::Unavailable
            || (known.outcome.is_usable() && known.team_name.is_some())
    });
    if run.state == State::TeamProbed && leads {
        return Err(illegal(run, "team_create_returned", "its answer is known")
            .hint("take the branch that it leads to: branch_taken"));
    }
    let warning = match (probe.outcome, &probe.team_name) {
        (Outcome::Unrecognised, _) => {
            Some("the answer says none of the three cases; look at it, and report what it was")
        }
        (Outcome::AlreadyLeading, None) => Some(
            "the answer names no team; ask for the name and give it with branch_taken, never guess",
        ),
        _ => None,
    };
    Ok(Accepted::one(BootstrapAct::Probed(probe.clone())).warned(warning))
}

/// Takes the branch that the outcome leads to.
pub fn branched(run: &Run, asked: Option<Case>, name: Option<&str>) -> Ruled {
    let mismatch =
        |message: String| Err(Refusal::new(Code::BranchMismatch, message).field("data.case"));
    let probe = run.probe.as_ref();
    let Some(case) = probe.and_then(|probe| probe.outcome.case()) else {
        return mismatch(
            "the answer of TeamCreate leads to no case, since it was not recognised".to_owned(),
        );
    };
    if let Some(asked) = asked.filter(|asked| *asked != case) {
        return mismatch(format!(
            "data.case must be {}, as the answer of TeamCreate says, but is {}",
            case.name(),
            asked.name()
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
        let refusal = Refusal::new(
            Code::BranchMismatch,
            "the answer of TeamCreate names no team, so data.team_name is required",
        );
        return Err(refusal
            .field("data.team_name")
            .hint("ask whoever leads the team for its name; never guess it"));
    }
    Ok(Accepted::one(BootstrapAct::BranchTaken { case, team_name }))
}

/// Enters the fallback, where no team can be created or launched.
pub fn fallen_back(run: &Run, reason: Option<&String>) -> Ruled {
    let outcome = run.probe.as_ref().map(|probe| probe.outcome);
    if run.state == State::TeamProbed && outcome != Some(Outcome::Unavailable) {
        let message = "FALLBACK must follow an answer of TeamCreate that there are no teams, but it was not recognised";
        return Err(Refusal::new(Code::BranchMismatch, message));
    }
    let said = run.blocked.clone().filter(|raw| !raw.is_empty());
    let said = said.or_else(|| run.probe.as_ref().and_then(|probe| probe.message.clone()));
    Ok(Accepted::one(BootstrapAct::FallbackEntered {
        reason: reason.cloned().or(said),
    }))
}

/// There is no way to launch a team; that is recorded, and the run stays.
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

/// The core and all selected domains, each once.
pub fn roster(run: &Run, core: Option<&[Core]>, domains: Option<&[String]>) -> Ruled {
    let incomplete = |message: String, field: &str| {
        Err(Refusal::new(Code::RosterIncomplete, message).field(field))
    };
    if let Some(core) = core {
        let given: BTreeSet<Core> = core.iter().copied().collect();
        if given.len() != core.len() || given.len() != Core::ALL.len() {
            return incomplete(
                "data.core must be obstruction-theorist and synthesizer, each once".to_owned(),
                "data.core",
            );
        }
    }
    let domains = domains.unwrap_or(&run.selected);
    if domains.is_empty() {
        return incomplete(
            "data.domains must hold at least one domain, but holds none".to_owned(),
            "data.domains",
        );
    }
    if let Some(twice) = repeated(domains) {
        return incomplete(
            format!("data.domains must hold each domain once, but holds {twice:?} twice"),
            "data.domains",
        );
    }
    if let Some(core) = domains
        .iter()
        .find(|domain| Core::from_any_case(domain).is_some())
    {
        return incomplete(
            format!("data.domains must hold domains, but {core:?} is one of the core"),
            "data.domains",
        );
    }
    let missing: Vec<&str> = not_in(&run.selected, domains);
    if !missing.is_empty() {
        return incomplete(
            format!(
                "data.domains must hold every selected domain, but {} is missing",
                missing.join(", ")
            ),
            "data.domains",
        );
    }
    Ok(Accepted::one(BootstrapAct::RosterBuilt {
        core: Core::ALL.to_vec(),
        domains: domains.to_vec(),
    }))
}

fn repeated(names: &[String]) -> Option<&String> {
    let mut seen = BTreeSet::new();
    names.iter().find(|name| !seen.insert(*name))
}

fn not_in<'a>(wanted: &'a [String], there: &[String]) -> Vec<&'a str> {
    let missing = wanted.iter().filter(|name| !there.contains(name));
    missing.map(String::as_str).collect()
}

/// Launches the whole roster at once. [`super::breach`] has checked already that nobody is left out.
pub fn launched(run: &Run, how: How, members: &[String]) -> Ruled {
    let How::Team(method) = how else {
        return Err(illegal(
            run,
            "team_launched",
            "members are launched by tasks",
        ));
    };
    let roster = run.roster.as_deref().unwrap_or_default();
    let stranger = |name: &&String| !roster.contains(name) && core_named(name).is_none();
    if let Some(stranger) = members.iter().find(stranger) {
        let message =
            format!("data.members must be those of the roster, but {stranger:?} is none of them");
        return Err(Refusal::new(Code::RosterIncomplete, message).field("data.members"));
    }
    let core = Core::ALL.iter().map(|core| core.name().to_owned());
    Ok(Accepted::one(BootstrapAct::TeamLaunched {
        method,
        members: core.chain(roster.iter().cloned()).collect(),
        due_at: None,
    }))
}

/// An ack of this launch, from one of the core.
pub fn ready(run: &Run, from: &Who, launch: Option<u32>) -> Ruled {
    let Who::Core(from) = from else {
        return Err(
            illegal(run, "core_ready_ack", "its sender is none of the core").field("data.from"),
        );
    };
    if let Some(launch) = launch.filter(|launch| *launch != run.launches) {
        let why = format!(
            "it is of launch {launch}, and the team was launched for the {}. time",
            run.launches
        );
        return Err(illegal(run, "core_ready_ack", &why).field("data.launch"));
    }
    match run.handshake(*from).acked {
        true => Ok(Accepted::known("the ack is known already")),
        false => Ok(Accepted::one(BootstrapAct::CoreAcked { from: *from })),
    }
}

/// Core members whose acks are missing, launched again.
pub fn relaunched(run: &Run, missing: Option<&[Core]>) -> Ruled {
    let missing = match missing {
        Some(missing) => missing.to_vec(),
        None if run.missing.is_empty() => run.unready(),
        None => run.missing.clone(),
    };
    match missing.is_empty() {
        true => Err(illegal(
            run,
            "core_relaunched",
            "both acks of the core are there",
        )),
        false => Ok(Accepted::one(BootstrapAct::CoreRelaunched {
            missing,
            due_at: None,
        })),
    }
}

/// The evidence has to be complete, and agree with the log.
pub fn running(run: &Run, evidence: Option<&Map<String, Value>>) -> Ruled {
    let evidence = proof::checked(run, evidence)?;
    Ok(Accepted::one(BootstrapAct::RunningEntered { evidence }))
}
