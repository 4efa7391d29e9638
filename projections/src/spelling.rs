//! How far two words are from each other, for whoever mistyped one.

/// Most letters of what somebody typed that are looked at: the words that there are, are short.
const LOOKED_AT_MAX: usize = 128;

/// The fewest letters to add, drop or change between a word that there is and one that somebody typed.
pub fn distance(known: &str, typed: &str) -> usize {
    let typed: Vec<char> = typed.chars().take(LOOKED_AT_MAX).collect();
    let mut row: Vec<usize> = (0..=typed.len()).collect();
    for (at, letter) in known.chars().enumerate() {
        let mut before = at;
        let mut left = at + 1;
        let mut next = vec![left];
        for (found, above) in typed.iter().zip(row.iter().skip(1)) {
            let changed = before + usize::from(*found != letter);
            left = changed.min(above + 1).min(left + 1);
            before = *above;
            next.push(left);
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

/// The known name that was probably meant, and how far it is: case, `_` and `-` do not count.
pub fn nearest<'a>(
    typed: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Option<(&'a str, usize)> {
    let bare = |name: &str| -> String {
        let letters = name.chars().filter(|c| !matches!(c, '_' | '-'));
        letters
            .take(LOOKED_AT_MAX)
            .collect::<String>()
            .to_lowercase()
    };
    let meant = bare(typed);
    known
        .into_iter()
        .map(|name| (name, distance(&bare(name), &meant)))
        .min_by_key(|(_, far)| *far)
}

#[cfg(test)]
mod tests {
    use super::{distance, nearest};

    #[test]
    fn letters_to_change_are_counted() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("abc", "abc"), 0);
        assert_eq!(distance("abc", &"x".repeat(1 << 20)), super::LOOKED_AT_MAX);
    }

    #[test]
    fn the_nearest_name_is_found_whatever_its_style() {
        let known = ["task_id", "team_name", "body"];
        assert_eq!(nearest("taskId", known), Some(("task_id", 0)));
        assert_eq!(nearest("teamname", known), Some(("team_name", 0)));
        assert_eq!(nearest("boody", known), Some(("body", 1)));
        assert_eq!(nearest("x", []), None);
    }
}
