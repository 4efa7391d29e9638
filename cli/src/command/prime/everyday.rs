//! The text form of a briefing: everyday commands, and at most [`TOKENS_MAX`] tokens.

use crate::command::prelude::*;
use teamlog_team::message::prime::{Few, PrimeAnswer};
use teamlog_team::usage::tokens;

/// Maximum number of tokens of the text. The text is short, because every session of an agent starts with this text.
const TOKENS_MAX: usize = 800;
/// Maximum number of next commands.
const COMMANDS_MAX: usize = 9;
const CLAIM: &str = "teamlog task claim ";
const READY: &str = "teamlog ready ";

/// Changes the answer into its text form. Commands name the team and the agent only if a shell of this environment needs them.
pub fn reword(answer: &mut PrimeAnswer, context: &mut Context) {
    let acting = context.env().var_set("TEAMLOG_AGENT");
    let is_acting = acting.is_some_and(|agent| agent == *answer.agent);
    let is_default = context
        .team_named(None)
        .is_ok_and(|team| team == answer.team);
    let mut options = String::new();
    if !is_default {
        options.push_str(&format!(" -t {}", quoted(&answer.team)));
    }
    if !is_acting {
        options.push_str(&format!(" --as {}", quoted(&answer.agent)));
    }
    answer.commands = everyday(&answer.commands, &options);
    context.own_commands(&mut answer.commands);
    shorten(answer, &context.view());
}

/// Returns the commands in everyday words, each with `options`.
fn everyday(commands: &[String], options: &str) -> Vec<String> {
    let can_claim = commands.iter().any(|command| command.starts_with(CLAIM));
    let claims_next = can_claim && commands.iter().any(|command| command.starts_with(READY));
    let mut reworded: Vec<String> = Vec::new();
    for command in commands {
        let words: Vec<&str> = command.split(' ').skip(1).collect();
        let everyday = match words.as_slice() {
            ["read", ..] => "inbox".to_owned(),
            ["ack", ..] => "ack --all".to_owned(),
            ["ready", ..] if claims_next => "next".to_owned(),
            ["task", "claim", ..] if claims_next => continue,
            ["task", "claim", _, id, ..] => format!("claim {id}"),
            ["task", "show", _, id, ..] => format!("show {id} --history"),
            ["task", "complete", _, id, ..] => format!("done {id} RESULT"),
            ["task", "fail", _, id, ..] => format!("fail {id} WHY"),
            ["task", "release", _, id, ..] => format!("release {id}"),
            // A report of the holder also renews its claim.
            ["task", "renew", _, id, ..] => format!("note {id} TEXT"),
            ["wait", _, "--agent", _, rest @ ..] => format!("wait {}", rest.join(" ")),
            [name @ ("ready" | "attention" | "who"), ..] => (*name).to_owned(),
            _ => {
                reworded.push(command.clone());
                continue;
            }
        };
        let everyday = format!("teamlog {everyday}{options}");
        if !reworded.contains(&everyday) {
            reworded.push(everyday);
        }
    }
    // The last command waits for news.
    while reworded.len() > COMMANDS_MAX {
        reworded.remove(reworded.len() - 2);
    }
    reworded
}

/// Removes items from the end of the longest list until the text is short enough.
fn shorten(answer: &mut PrimeAnswer, view: &View) {
    loop {
        let text = render::hand::primed(answer, view).join("\n");
        let is_short = tokens::estimate(&text) <= TOKENS_MAX;
        let longest = lists(answer).into_iter().max_by_key(|list| list.len());
        match longest.filter(|list| !is_short && list.len() > 0) {
            Some(list) => list.remove_last(),
            None => return,
        }
    }
}

/// A list of a briefing.
trait List {
    fn len(&self) -> usize;
    fn remove_last(&mut self);
}

impl<T> List for Few<T> {
    fn len(&self) -> usize {
        self.items.len()
    }
    fn remove_last(&mut self) {
        self.items.pop();
    }
}

/// Returns the lists of a briefing, most important first.
fn lists(answer: &mut PrimeAnswer) -> Vec<&mut dyn List> {
    let mut lists: Vec<&mut dyn List> = vec![
        &mut answer.in_progress,
        &mut answer.unread,
        &mut answer.blocked,
        &mut answer.ready,
        &mut answer.rejected,
        &mut answer.posts,
        &mut answer.news,
    ];
    if let Some(lead) = &mut answer.lead {
        let of_team: [&mut dyn List; 4] = [
            &mut lead.decisions,
            &mut lead.blocked,
            &mut lead.held,
            &mut lead.finished,
        ];
        lists.extend(of_team);
    }
    lists
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reworded(commands: &[&str], options: &str) -> Vec<String> {
        let commands: Vec<String> = commands.iter().copied().map(String::from).collect();
        everyday(&commands, options)
    }

    #[test]
    fn commands_are_reworded() {
        let commands = [
            "teamlog read demo --agent dev --unread",
            "teamlog ack demo --agent dev --message-id m-1",
            "teamlog ack demo --agent dev --message-id m-2",
            "teamlog ready demo --agent dev",
            "teamlog task show demo T-1 --history",
            "teamlog task complete demo T-1 --worker dev --epoch 1 --result TEXT",
            "teamlog task claim demo T-2 --worker dev",
            "teamlog wait demo --agent dev --since 3 --timeout 300",
        ];
        let expected = [
            "teamlog inbox --as dev",
            "teamlog ack --all --as dev",
            "teamlog next --as dev",
            "teamlog show T-1 --history --as dev",
            "teamlog done T-1 RESULT --as dev",
            "teamlog wait --since 3 --timeout 300 --as dev",
        ];
        assert_eq!(reworded(&commands, " --as dev"), expected);
    }

    #[test]
    fn the_text_is_short_and_the_totals_stay() {
        let text = "needs the schema ".repeat(6);
        let task = serde_json::json!({
            "task_id": "T-1", "priority": "normal", "subject": text, "age_minutes": 1, "note": text,
        });
        let list = serde_json::json!({"total": 40, "items": vec![task; 10]});
        let nothing = serde_json::json!({"total": 0, "items": []});
        let answer = serde_json::json!({
            "team": "demo", "agent": "dev", "last_seq": 9, "tasks_by_status": {},
            "in_progress": list, "blocked": list, "ready": list, "unread": nothing,
            "unread_wakeups": 0, "posts": nothing, "news": nothing, "commands": ["teamlog inbox"],
        });
        let mut answer: PrimeAnswer = serde_json::from_value(answer).unwrap();
        let view = View {
            paint: render::style::Paint::new(false),
            now: teamlog_team::engine::Timestamp::default(),
            width: None,
            whole: false,
        };
        shorten(&mut answer, &view);
        let text = render::hand::primed(&answer, &view).join("\n");
        let tokens = tokens::estimate(&text);
        assert!((600..=TOKENS_MAX).contains(&tokens), "{tokens}: {text}");
        assert!(text.contains("in progress ("), "{text}");
        assert!(text.contains(" of 40)"), "{text}");
        assert!(text.ends_with("  teamlog inbox"), "{text}");
    }

    #[test]
    fn a_team_without_claims_is_only_read() {
        let commands = ["teamlog ready demo --agent dev"];
        assert_eq!(reworded(&commands, ""), ["teamlog ready"]);
    }
}
