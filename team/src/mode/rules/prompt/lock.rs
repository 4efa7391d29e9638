//! The input lock of an interview. A prompt that only consists of words of consent does not answer a question.

use crate::mode::prelude::*;
use crate::mode::rules::prompt::keyword::plain;

/// Returns the input lock of a state, unless the lock is released.
pub fn held(state: &Fields) -> Option<&Fields> {
    let lock = state.get("input_lock")?.as_object()?;
    (lock.get("active") == Some(&Value::Bool(true))).then_some(lock)
}

/// Returns the blocked input that equals the prompt; `None` if the lock accepts the prompt.
pub fn kept_back(lock: &Fields, prompt: &str) -> Option<String> {
    let words = lock.get("blocked_inputs")?.as_array()?;
    let said = plain(prompt);
    let mut words = words.iter().filter_map(Value::as_str);
    words.find(|word| plain(word) == said).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mode::rules::seed::BLOCKED_INPUTS;
    use serde_json::json;

    fn state(lock: Value) -> Fields {
        let Value::Object(state) = json!({ "input_lock": lock }) else {
            panic!("no object");
        };
        state
    }

    #[test]
    fn a_word_of_assent_alone_is_kept_back() {
        let state = state(json!({"active": true, "blocked_inputs": BLOCKED_INPUTS}));
        let lock = held(&state).unwrap();
        for word in BLOCKED_INPUTS {
            assert_eq!(kept_back(lock, word).as_deref(), Some(word));
            let loud = format!(" {}!\n", word.to_uppercase());
            assert_eq!(kept_back(lock, &loud).as_deref(), Some(word));
            assert_eq!(
                kept_back(lock, &format!("{word} with the second one")),
                None
            );
        }
        assert_eq!(kept_back(lock, "go\n ahead").as_deref(), Some("go ahead"));
        assert_eq!(kept_back(lock, ""), None);
    }

    #[test]
    fn only_a_lock_that_holds_keeps_anything_back() {
        assert_eq!(held(&state(json!({"active": false}))), None);
        assert_eq!(held(&state(json!(true))), None);
        assert_eq!(held(&Fields::new()), None);
        assert_eq!(
            kept_back(held(&state(json!({"active": true}))).unwrap(), "yes"),
            None
        );
    }
}
