//! Tests of used tokens, budgets and artifacts.

use crate::support::*;
use teamlog_projections::artifact::event::{ArtifactFact, ArtifactKind, ArtifactStored};
use teamlog_projections::usage::UsageOf;
use teamlog_projections::usage::event::{Budget, SoftLimitReached, UsageFact, UsageReported};

/// Returns one of the events of token usage or artifacts.
pub fn spent(what: u8, by: &str, number: u8) -> NewEvent {
    let number = u64::from(number);
    match what {
        0 => UsageFact::Set(given!(Budget; max_tokens: number * 10,
            soft_limit_tokens: (number > 3).then_some(number), per_agent_tokens: None,
            hard_limit: number > 5))
        .event(by, None),
        1 => UsageFact::SoftLimitReached(given!(SoftLimitReached; limit: number, tokens: number))
            .event(by, None),
        6 | 7 => ArtifactFact::Stored(given!(ArtifactStored; name: format!("a{}", number % 3),
            kind: ArtifactKind::ALL[usize::from(what == 6)], digest: format!("{number:064x}"),
            size: number, task_id: None::<String>, worker: by))
        .event(by, None),
        _ => UsageFact::Reported(given!(UsageReported; worker: by,
            task_id: (what == 2).then(|| "1".to_owned()), input_tokens: number, output_tokens: 1,
            tokens: if what == 3 { u64::MAX } else { number + 1 }))
        .event(by, None),
    }
}

/// Checks that every artifact is listed once in total and once under its kind.
pub fn check_artifacts(live: &Live) {
    let all = live.artifacts(None, None, usize::MAX).unwrap();
    let mut of_kinds = Vec::new();
    for kind in ArtifactKind::ALL {
        let listed = live.artifacts(Some(kind), None, usize::MAX).unwrap();
        assert!(listed.iter().all(|one| one.stored.kind == kind));
        if let Some(first) = listed.first() {
            let rest = live
                .artifacts(Some(kind), Some(&first.stored.name), 9)
                .unwrap();
            assert_eq!(rest, listed[1..]);
        }
        of_kinds.extend(listed);
    }
    of_kinds.sort_by(|a, b| a.stored.name.cmp(&b.stored.name));
    assert_eq!(of_kinds, all);
}

/// Checks that the team's usage is the sum of the agents' usage.
pub fn check_usage(live: &Live) {
    let team = live.used(UsageOf::Team).unwrap();
    let agents = live.agents_used(None, usize::MAX).unwrap();
    let sum = |of: fn(&teamlog_projections::usage::Used) -> u64| {
        let sum = agents.iter().map(|(_, used)| of(used));
        sum.fold(0, u64::saturating_add)
    };
    assert_eq!(team.tokens, sum(|used| used.tokens));
    assert_eq!(team.reports, sum(|used| used.reports));
    let mut after: Option<String> = None;
    for (agent, used) in &agents {
        assert_eq!(live.used(UsageOf::Agent(agent)).unwrap(), *used);
        let next = live.agents_used(after.as_deref(), 1).unwrap();
        assert_eq!(next[0], (agent.clone(), *used));
        after = Some(agent.clone());
    }
}

#[test]
fn tokens_add_up_by_team_agent_and_task_and_the_last_budget_counts() {
    let team = Team::new();
    team.append(vec![
        spent(2, "dev", 4),
        spent(4, "qa", 7),
        spent(4, "dev", 1),
    ]);
    let live = team.live();
    let used = |whose| live.used(whose).unwrap();
    let of = |whose| {
        (
            used(whose).tokens,
            used(whose).input_tokens,
            used(whose).reports,
        )
    };
    assert_eq!(of(UsageOf::Team), (15, 12, 3));
    assert_eq!(of(UsageOf::Agent("dev")), (7, 5, 2));
    assert_eq!(of(UsageOf::Task("1")), (5, 4, 1));
    assert_eq!(of(UsageOf::Task("2")), (0, 0, 0));
    assert_eq!(live.budget().unwrap(), None);

    team.append(vec![spent(0, "lead", 4), spent(1, "teamlog", 4)]);
    let info = team.live().budget().unwrap().unwrap();
    assert!(info.soft_limit_reached());
    assert_eq!(team.json("team.json")["budget"]["max_tokens"], 40);
    assert_eq!(team.json("team.json")["budget"]["maxTokens"], 40);
    assert_eq!(team.json("team.json")["budget"]["hardLimit"], false);
    // After a change of the limit, the limit can be reached again.
    team.append(vec![spent(0, "lead", 8)]);
    let info = team.live().budget().unwrap().unwrap();
    assert!(!info.soft_limit_reached() && info.budget.hard_limit);
    assert_eq!(team.json("team.json")["budget"]["soft_limit_tokens"], 8);
}
