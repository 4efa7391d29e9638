//! Suggestions for mistyped names.

/// Largest number of letters of the input that are compared. Known names are shorter.
const LOOKED_AT_MAX: usize = 128;

/// Returns the edit distance: the fewest letters to add, remove or change.
pub fn distance(known: &str, typed: &str) -> usize {
    let typed: String = typed.chars().take(LOOKED_AT_MAX).collect();
    strsim::levenshtein(known, &typed)
}

/// Returns the most similar known name and its distance. Ignores case, `_` and `-`.
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

/// Largest number of different letters for a name to count as a misspelling of another name.
const LOOKALIKE: usize = 2;

/// Returns the known name that was probably meant. The result is a name that contains the input (`team_name` contains `team`),
/// or else the most similar name. Returns `None` if most letters of that name differ.
pub fn meant<'a>(typed: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let known: Vec<&str> = known.into_iter().collect();
    let near = nearest(typed, known.iter().copied());
    let letters = typed.chars().count();
    let is_near =
        |(_, far): &(&str, usize)| *far == 0 || (*far < letters && *far <= 1.max(letters / 3));
    if let Some((near, _)) = near.filter(is_near) {
        return Some(near);
    }
    let lower = typed.to_lowercase();
    let part = |name: &&&str| name.split(['_', '-']).any(|part| part == lower);
    let part = known.iter().find(part).copied();
    let close = |(_, far): &(&str, usize)| *far < letters && *far <= (letters / 2).max(LOOKALIKE);
    part.or_else(|| near.filter(close).map(|(near, _)| near))
}

#[cfg(test)]
mod tests {
    use super::{distance, meant, nearest};

    #[test]
    fn a_name_is_known_by_a_part_of_it_too() {
        let known = ["team_name", "task_id", "from_worker", "to_worker", "body"];
        for (typed, name) in [
            ("team", Some("team_name")),
            ("from", Some("from_worker")),
            ("to", Some("to_worker")),
            ("id", Some("task_id")),
            ("taskId", Some("task_id")),
            ("boody", Some("body")),
            ("zzzzzz", None),
            ("", None),
        ] {
            assert_eq!(meant(typed, known), name, "{typed}");
        }
        assert_eq!(meant("demmo", ["other", "demo"]), Some("demo"));
        assert_eq!(meant("c", ["a", "b"]), None);
        assert_eq!(meant("x", []), None);
    }

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
