//! The plan for the skills of a prompt, decided as a whole. Planning comes before execution. Transitions follow one after the
//! other, each based on the result of the previous transition. If one transition is denied, the whole prompt is denied.

use crate::mode::prelude::*;

/// The decision on the skills of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The modes to start, in this order.
    pub requested: Vec<Mode>,
    /// The deferred modes, in the order of the prompt.
    pub deferred: Vec<Mode>,
    /// The transitions, up to the first denied transition.
    pub steps: Vec<Transition>,
    pub before: Vec<Mode>,
    pub after: Vec<Mode>,
}

impl Plan {
    pub fn denied(&self) -> Option<&Transition> {
        self.steps.last().filter(|step| step.kind == Kind::Deny)
    }
    /// Returns the modes that become active and stay active. `visible` are the modes that the caller sees as active. A requested
    /// mode outside of `visible` is started for the caller, even if that mode is active elsewhere.
    pub fn started(&self, visible: &[Mode]) -> Vec<Mode> {
        let starts = |mode: &&Mode| {
            let is_new = !self.before.contains(mode);
            is_new || (self.requested.contains(mode) && !visible.contains(mode))
        };
        self.after.iter().filter(starts).copied().collect()
    }
    /// Returns the modes that were active before and are completed by the plan.
    pub fn completed(&self) -> Vec<Mode> {
        without(&self.before, &self.after)
    }
    /// Returns the messages about hand-offs, without duplicates.
    pub fn messages(&self) -> Vec<String> {
        let mut messages = Vec::new();
        let handed = |step: &&Transition| step.kind == Kind::AutoComplete;
        let handed = self.steps.iter().filter(handed);
        join(
            &mut messages,
            handed.filter_map(|step| step.message.clone()),
        );
        messages
    }
}

fn without(modes: &[Mode], others: &[Mode]) -> Vec<Mode> {
    let kept = modes.iter().filter(|mode| !others.contains(mode));
    kept.copied().collect()
}

/// Decides on the skills of a prompt. `active` are the modes that are active before the prompt, in the order of their starts.
pub fn plan(skills: &[Skill], active: &[Mode], review: Review) -> Plan {
    let (requested, deferred) = split(skills);
    let mut plan = Plan {
        requested,
        deferred,
        steps: Vec::new(),
        before: active.to_vec(),
        after: active.to_vec(),
    };
    for mode in &plan.requested {
        let step = decide(&plan.after, *mode, review);
        let goes_on = step.is_allowed();
        plan.after.clone_from(&step.resulting);
        plan.steps.push(step);
        if !goes_on {
            plan.after.clone_from(&plan.before);
            break;
        }
    }
    plan
}

/// Splits the modes into modes to start and modes to defer. If both planning and execution are requested, only the first
/// planning mode starts.
fn split(skills: &[Skill]) -> (Vec<Mode>, Vec<Mode>) {
    let mut modes: Vec<Mode> = Vec::new();
    join(&mut modes, skills.iter().filter_map(|skill| skill.mode()));
    let planning = modes.iter().copied().find(|mode| mode.plans());
    match planning {
        Some(first) if modes.iter().any(|mode| !mode.plans()) => {
            modes.retain(|mode| *mode != first);
            (vec![first], modes)
        }
        _ => (modes, Vec::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mode::rules::denial::joined;
    use crate::mode::rules::prompt::{NamedSkills, Words};
    use proptest::prelude::*;

    fn names(modes: &[Mode]) -> String {
        joined(modes, ",")
    }

    fn modes(names: &str) -> Vec<Mode> {
        names.split(',').filter_map(Mode::from_name).collect()
    }

    fn planned(active: &str, prompt: &str) -> Plan {
        plan(
            &NamedSkills::from_prompt(prompt, Words::default()).skills(),
            &modes(active),
            Review::Unknown,
        )
    }

    #[test]
    fn prompts_end_like_this() {
        for (active, prompt, after, deferred, messages) in cases![
            ("" => "$blueprint $team $forge x", "blueprint", "team,forge", ""),
            ("" => "$forge $blueprint x", "blueprint", "forge", ""),
            ("" => "$team $forge x", "team,forge", "", ""),
            ("" => "$ulw $autopilot x", "ultrawork,autopilot", "", ""),
            ("" => "$deep-interview $blueprint x", "blueprint", "",
                "mode transiting: deep-interview -> blueprint"),
            ("" => "$analyze $team x", "team", "", ""),
            ("" => "$analyze x", "", "", ""),
            ("" => "$deep-interview $forge $blueprint x", "deep-interview", "forge,blueprint", ""),
            ("team" => "$forge", "team,forge", "", ""),
            ("blueprint" => "$team $forge", "team,forge", "", "mode transiting: blueprint -> team"),
            ("deep-interview" => "$blueprint $forge", "blueprint", "forge",
                "mode transiting: deep-interview -> blueprint"),
            ("forge" => "$forge", "forge", "", ""),
        ] {
            let plan = planned(active, prompt);
            assert_eq!(plan.denied(), None, "{prompt}");
            assert_eq!(names(&plan.after), after, "{prompt}");
            assert_eq!(names(&plan.deferred), deferred, "{prompt}");
            assert_eq!(plan.messages().join("|"), messages, "{prompt}");
        }
    }

    #[test]
    fn one_denial_denies_the_whole() {
        for (active, prompt, requested, kind) in cases![
            ("" => "$autopilot $team x", "team", "generic"),
            ("" => "$blueprint $autoresearch x", "autoresearch", "generic"),
            ("" => "$blueprint $deep-interview x", "deep-interview", "generic"),
            ("team" => "$blueprint x", "blueprint", "rollback"),
            ("blueprint" => "$team $autopilot x", "autopilot", "generic"),
        ] {
            let plan = planned(active, prompt);
            let denied = plan.denied().unwrap();
            assert_eq!(denied.requested.name(), requested, "{prompt}");
            assert_eq!(denied.denial.unwrap().name(), kind, "{prompt}");
            assert_eq!(plan.after, modes(active), "{prompt}");
            assert_eq!(plan.started(&plan.before), []);
            assert_eq!(plan.completed(), []);
        }
    }

    #[test]
    fn only_what_lasts_is_started_and_only_what_was_there_is_completed() {
        let plan = planned("", "$deep-interview $blueprint x");
        assert_eq!(plan.started(&[]), [Mode::Blueprint]);
        assert_eq!(plan.completed(), []);
        let hidden = planned("forge,ultrawork", "$forge x");
        assert_eq!(hidden.started(&[Mode::Ultrawork]), [Mode::Forge]);
        assert_eq!(hidden.started(&[Mode::Forge]), []);
        let plan = planned("blueprint,ultrawork", "$team $forge x");
        assert_eq!(plan.started(&[Mode::Blueprint]), [Mode::Team, Mode::Forge]);
        assert_eq!(plan.completed(), [Mode::Blueprint]);
    }

    fn any_prompt() -> impl Strategy<Value = String> {
        let word = prop_oneof![
            "[$][a-zA-Z:-]{0,12}",
            prop::sample::select(vec![
                "$blueprint",
                "$team",
                "$forge",
                "$ulw",
                "$brief",
                "$autoforge",
                "$ultraqa",
                "$autoresearch",
                "$cancel",
                "$rcs:forge",
                "$x:forge",
                "ㅕㅣㅈ",
                "force:",
                "!",
                "forge",
                "use autopilot",
                "start forge mode",
                "`",
                "```",
                "/prompts:x",
                "keep going",
                "\n",
                ",",
                "",
            ])
            .prop_map(str::to_owned),
            "\\PC{0,8}",
        ];
        prop::collection::vec(word, 0..8).prop_map(|words| words.join(" "))
    }

    fn any_modes() -> impl Strategy<Value = Vec<Mode>> {
        prop::collection::vec(prop::sample::select(Mode::ALL.to_vec()), 0..4)
    }

    proptest! {
        #[test]
        fn whatever_is_typed_is_decided(prompt in any_prompt(), noise in "\\PC*", active in any_modes()) {
            for text in [&prompt, &noise] {
                let words = Words { phrases: true, ..Words::default() };
                let named = NamedSkills::from_prompt(text, words);
                let _ = crate::mode::rules::prompt::keyword::going_on(text);
                let (skills, _) = crate::mode::rules::prompt::gate::gated(text, &named.found, Default::default());
                check(&skills, &active)?;
                check(&named.skills(), &active)?;
            }
        }
    }

    fn check(skills: &[Skill], active: &[Mode]) -> Result<(), TestCaseError> {
        let plan = plan(skills, active, Review::Unknown);
        let asked: Vec<Mode> = skills.iter().filter_map(|skill| skill.mode()).collect();
        // Each requested mode is either started or deferred.
        for mode in &asked {
            prop_assert!(plan.requested.contains(mode) != plan.deferred.contains(mode));
        }
        prop_assert_eq!(plan.requested.len() + plan.deferred.len(), asked.len());
        // If both planning and execution are requested, no executing mode starts.
        let both = asked.iter().any(|mode| mode.plans()) && asked.iter().any(|mode| !mode.plans());
        if both {
            prop_assert!(plan.started(active).iter().all(|mode| mode.plans()));
            prop_assert_eq!(plan.requested.len(), 1);
        } else {
            prop_assert!(plan.deferred.is_empty());
        }
        // A denied prompt changes nothing.
        if plan.denied().is_some() {
            prop_assert_eq!(&plan.after, &plan.before);
        } else {
            for mode in &plan.started(active) {
                prop_assert!(plan.requested.contains(mode));
            }
        }
        Ok(())
    }
}
