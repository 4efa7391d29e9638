//! Decides if a query to a database or a forge only reads.

use super::table::lists;

/// Returns true if every SQL statement and every command of the database client certainly only reads.
pub(super) fn only_reads(text: &str) -> bool {
    let text = text.trim();
    if text.starts_with('\\') || text.starts_with('.') {
        // Arguments of a client command may run programs or write files.
        let mut words = text.split_whitespace();
        let name = words.next().unwrap_or_default();
        let plain = |word: &str| {
            word.chars()
                .all(|letter| letter.is_alphanumeric() || "_.*\"'-".contains(letter))
        };
        return lists("@sql-command", name) && !text.contains('\n') && words.all(plain);
    }
    // A backslash may begin a client command at any position.
    !text.contains(['\\', '`'])
        && text
            .split(';')
            .all(|statement| statement_reads(statement.trim()))
}

fn statement_reads(statement: &str) -> bool {
    let lower = statement.to_lowercase();
    let mut words = lower
        .split(|letter: char| !(letter.is_alphanumeric() || letter == '_'))
        .filter(|word| !word.is_empty());
    let Some(first) = words.next() else {
        return statement.is_empty();
    };
    // A comment or bracket may hide the beginning of a statement.
    statement.starts_with(char::is_alphabetic)
        && lists("@sql-reads", first)
        && !words.any(|word| lists("@sql-writes", word))
        && match first {
            "pragma" => !statement.contains('='),
            _ => calls_known_functions(&lower),
        }
}

/// Returns true if a statement calls only functions that are known to write nothing. `select f()` runs a function of the
/// database. A comment or a quoted name before a bracket may hide the name of the function.
fn calls_known_functions(lower: &str) -> bool {
    let has = |sign: &str| lower.contains(sign);
    if has("(") && (has("--") || has("/*") || has("#") && has("\n")) {
        return false;
    }
    lower.match_indices('(').all(|(at, _)| {
        let before = lower.get(..at).unwrap_or_default().trim_end();
        let is_name = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '$';
        let start = before.trim_end_matches(is_name);
        let name = before.get(start.len()..).unwrap_or_default();
        match name.is_empty() {
            true => !before.ends_with(['"', '`', ']']),
            false => !start.ends_with('.') && lists("@sql-pure", name),
        }
    })
}

/// Returns true if a field `name=value` of a GraphQL request contains no query that changes something.
pub(super) fn only_queries(field: &str) -> bool {
    match field.split_once('=') {
        Some(("query", query)) => {
            let query = query.trim_start();
            (query.starts_with('{') || query.starts_with("query")) && !query.contains("mutation")
        }
        Some((name, _)) => name != "operationName",
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_that_only_read_are_told_from_others() {
        for (query, reads) in [
            ("select 1", true),
            ("SELECT count(*) FROM t WHERE a = 'x';", true),
            ("select 1; show tables", true),
            ("explain select 1", true),
            (
                "select max(a), coalesce (b, 0) from t where c in (1, 2) and (d or e)",
                true,
            ),
            ("select f()", false),
            ("select f ()", false),
            ("select * from public.count(1)", false),
            ("select \"count\"(1)", false),
            ("select f/* */()", false),
            ("select count(x) from f -- count\n(1)", false),
            ("select f#count\n(1)", false),
            ("with x as (select 1) select * from x", true),
            ("\\dt public.*", true),
            (".schema users", true),
            (".tables", true),
            ("pragma table_info(t)", true),
            ("pragma journal_mode = wal", false),
            ("delete from t", false),
            ("select 1; drop table t", false),
            (
                "with x as (delete from t returning *) select * from x",
                false,
            ),
            ("select * into t from u", false),
            ("select writefile('a', 'b')", false),
            ("select lo_export(1, '/tmp/x')", false),
            ("copy t to '/tmp/x'", false),
            ("vacuum into 'a'", false),
            ("\\! rm a", false),
            ("\\dt `rm a`", false),
            ("\\dt |rm", false),
            ("select 1 \\g a", false),
            (".output a", false),
            (".shell rm a", false),
            (".schema\n.shell rm a", false),
            ("explain analyze delete from t", false),
            ("/* x */ delete from t", false),
            ("select 1;\nsystem rm a", false),
            ("", true),
        ] {
            assert_eq!(only_reads(query), reads, "{query}");
        }
        for (field, reads) in [
            ("query={ viewer { login } }", true),
            ("query=query($a: Int) { x }", true),
            ("owner=x", true),
            ("query=mutation { x }", false),
            ("query=@file", false),
            ("query=query a {x} mutation b {y}", false),
            ("operationName=b", false),
        ] {
            assert_eq!(only_queries(field), reads, "{field}");
        }
    }
}
