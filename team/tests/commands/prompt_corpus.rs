//! Tests with prompts that people wrote. Some must start no mode, the others must start the
//! expected modes.

use crate::mode_calls::{complete, start};
use crate::prelude::*;
use teamlog_team::mode::rules::prompt::answer::PromptAnswer;

const NOTHING: &str = include_str!("../data/prompts-start-nothing.txt");
const SOMETHING: &str = include_str!("../data/prompts-start.txt");

fn lines(corpus: &'static str) -> Vec<String> {
    let lines = corpus.lines().filter(|line| !line.starts_with("# "));
    let lines = lines.filter(|line| !line.is_empty() && *line != "#");
    lines.map(|line| line.replace("\\n", "\n")).collect()
}

/// Returns the expected active modes and the prompt of each line.
fn something() -> Vec<(String, String)> {
    let split = |line: String| {
        let (modes, prompt) = line.split_once(" | ").unwrap();
        (modes.to_owned(), prompt.to_owned())
    };
    lines(SOMETHING).into_iter().map(split).collect()
}

fn told(team: &mut Team, text: &str, at: &str) -> PromptAnswer {
    let asked = given!(ModePrompt, text, session_id: at);
    team.mode_prompt(asked)
        .unwrap_or_else(|failure| panic!("{text:?}: {failure}"))
}

fn trigger(team: &mut Team, value: &str) {
    team.config_change(given!(ConfigChange, key: "modes.trigger", value))
        .unwrap();
}

#[test]
fn the_corpora_are_as_large_as_they_are_said_to_be_and_repeat_nothing() {
    let (nothing, something) = (lines(NOTHING), something());
    assert!(nothing.len() >= 150, "{}", nothing.len());
    assert!(something.len() >= 50, "{}", something.len());
    let variables = nothing.iter().filter(|prompt| prompt.contains('$')).count();
    assert!(variables >= 40, "{variables}");
    let tokens = something.iter().filter(|(_, prompt)| prompt.contains('$'));
    assert!(tokens.count() >= 15);
    let prompts = something.iter().map(|(_, prompt)| prompt);
    let all: BTreeSet<&String> = nothing.iter().chain(prompts).collect();
    assert_eq!(all.len(), nothing.len() + something.len());
}

#[test]
fn ordinary_prose_starts_nothing() {
    let (_, mut team) = demo();
    trigger(&mut team, "phrases");
    // A session with a mode that is compatible with every other mode, so that no denial can hide a start.
    start(&mut team, Mode::Ultrawork, "busy").unwrap();
    let before = events(&mut team);
    for at in ["idle", "busy"] {
        for prompt in lines(NOTHING) {
            let answer = told(&mut team, &prompt, at);
            assert!(answer.started.is_empty(), "{prompt:?} in {at}: {answer:?}");
            let calls: Vec<String> = answer.requested_skills;
            assert!(
                calls.is_empty() || calls == ["cancel"],
                "{prompt:?} in {at}: {calls:?}"
            );
        }
    }
    assert_eq!(events(&mut team), before, "and records nothing");
}

#[test]
fn a_complete_plan_lets_only_its_go_aheads_start_anything() {
    let world = World::new();
    let mut started = Vec::new();
    let mut team = world.demo();
    start(&mut team, Mode::Blueprint, "planned").unwrap();
    complete(&mut team, Mode::Blueprint, "planned").unwrap();
    for prompt in lines(NOTHING) {
        let answer = told(&mut team, &prompt, "planned");
        if answer.started.is_empty() {
            continue;
        }
        started.push(prompt);
        let (mode, at) = (answer.started[0].mode, answer.started[0].session_id.clone());
        complete(&mut team, mode, at.as_deref().unwrap_or_default()).unwrap();
    }
    assert_eq!(started, ["team", "forge", "team please", "Forge please!"]);
}

/// Returns the active modes of an answer as a list in one text.
fn active(answer: &PromptAnswer) -> String {
    let modes: Vec<&str> = answer
        .active_skills
        .iter()
        .map(|mode| mode.name())
        .collect();
    modes.join(",")
}

#[test]
fn what_is_meant_starts_what_is_meant() {
    for (modes, prompt) in something() {
        let (_, mut team) = demo();
        trigger(&mut team, "phrases");
        let answer = told(&mut team, &prompt, "s-1");
        assert_eq!(active(&answer), modes, "{prompt:?}");
    }
}

#[test]
fn by_default_only_tokens_start_anything_and_off_starts_nothing() {
    for (modes, prompt) in something() {
        let (_, mut team) = demo();
        trigger(&mut team, "off");
        let before = events(&mut team);
        let answer = told(&mut team, &prompt, "s-1");
        assert_eq!((active(&answer), answer.keywords), (String::new(), vec![]));
        assert_eq!(events(&mut team), before, "{prompt:?}");
        team.config_change(given!(ConfigChange, key: "modes.trigger"))
            .unwrap();
        let answer = told(&mut team, &prompt, "s-1");
        let wanted = if prompt.contains('$') { &*modes } else { "" };
        assert_eq!(active(&answer), wanted, "{prompt:?}");
        trigger(&mut team, "phrases");
        let answer = told(&mut team, &prompt, "s-2");
        assert_eq!(active(&answer), modes, "{prompt:?}");
    }
}
