//! How much of a reader's attention a text takes, where the reader is a language model.

/// Tokens that a text takes at most, by a rule that guesses high: three letters, two signs, or two bytes of any other
/// script make a token; so do six spaces, and hardly more than one digit, for ids are cut into small pieces.
pub fn estimate(text: &str) -> usize {
    let sixths: usize = text
        .bytes()
        .map(|byte| match byte {
            b' ' | b'\n' => 1,
            b'a'..=b'z' | b'A'..=b'Z' => 2,
            b'0'..=b'9' => 5,
            _ => 3,
        })
        .sum();
    sixths.div_ceil(6)
}

#[cfg(test)]
mod tests {
    use super::estimate;

    #[test]
    fn it_guesses_high() {
        for (text, counted) in [
            ("", 0),
            ("The quick brown fox jumps over the lazy dog.", 10),
            (r#"{"task_id":"bd-12","status":"in_progress"}"#, 15),
            ("msg_3b666a1e21da", 9),
            ("日本語", 4),
        ] {
            assert!(estimate(text) >= counted, "{text}: {}", estimate(text));
        }
    }
}
