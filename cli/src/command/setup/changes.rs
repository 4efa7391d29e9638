//! Computes changes of files in memory, then writes them.

use crate::agents::file;
use crate::command::prelude::*;
use crate::render::escape::visible_lines;
use std::collections::BTreeMap;

/// Files with their old and new contents.
#[derive(Debug, Default)]
pub struct Files {
    drafts: BTreeMap<PathBuf, PendingFile>,
}

#[derive(Debug)]
struct PendingFile {
    old: Option<String>,
    new: Option<String>,
}

/// A changed file.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FileChange {
    /// Path of the file.
    file: String,
    /// New content of the file; `null` if the file is removed.
    content: Option<String>,
    #[serde(skip)]
    old: Option<String>,
}

impl Files {
    /// Returns the content of a file after the changes that were made so far.
    pub fn text(&mut self, path: &Path) -> Result<Option<String>, CommandError> {
        if let Some(draft) = self.drafts.get(path) {
            return Ok(draft.new.clone());
        }
        let old = file::read(path)?;
        let draft = PendingFile {
            old: old.clone(),
            new: old.clone(),
        };
        self.drafts.insert(path.to_owned(), draft);
        Ok(old)
    }

    /// Sets the new content of a file; `None` removes the file.
    pub fn set(&mut self, path: &Path, new: Option<String>) -> Result<(), CommandError> {
        self.text(path)?;
        if let Some(draft) = self.drafts.get_mut(path) {
            draft.new = new;
        }
        Ok(())
    }

    pub fn changes(&self) -> Vec<FileChange> {
        let drafts = self.drafts.iter();
        drafts
            .filter(|(_, draft)| draft.old != draft.new)
            .map(|(path, draft)| FileChange {
                file: path.display().to_string(),
                content: draft.new.clone(),
                old: draft.old.clone(),
            })
            .collect()
    }

    /// Writes the changed files, then removes empty directories below `dir`.
    pub fn write(&self, dir: &Path) -> Result<(), CommandError> {
        for (path, draft) in &self.drafts {
            match &draft.new {
                _ if draft.old == draft.new => {}
                Some(new) => file::replace(path, new)?,
                None => file::remove(path, dir)?,
            }
        }
        Ok(())
    }
}

impl FileChange {
    pub fn lines(&self) -> Vec<String> {
        let old = visible_lines(self.old.as_deref().unwrap_or_default());
        let new = visible_lines(self.content.as_deref().unwrap_or_default());
        let mut lines = vec![visible(&self.file).into_owned()];
        for (sign, line) in changed(&old, &new) {
            lines.push(format!("  {sign} {line}").trim_end().to_owned());
        }
        lines
    }
}

/// Compares two texts by lines. Returns the removed and added lines in order, with the longest common subsequence left out.
fn changed<'a>(old: &'a str, new: &'a str) -> Vec<(char, &'a str)> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let width = new.len() + 1;
    // `common` holds the length of the longest common subsequence for each pair of suffixes.
    let mut common = vec![0_u32; (old.len() + 1) * width];
    let get = |common: &[u32], a: usize, b: usize| common.get(a * width + b).copied().unwrap_or(0);
    for (a, left) in old.iter().enumerate().rev() {
        for (b, right) in new.iter().enumerate().rev() {
            let most = match left == right {
                true => get(&common, a + 1, b + 1) + 1,
                false => get(&common, a + 1, b).max(get(&common, a, b + 1)),
            };
            if let Some(cell) = common.get_mut(a * width + b) {
                *cell = most;
            }
        }
    }
    let (mut a, mut b, mut lines) = (0, 0, Vec::new());
    loop {
        match (old.get(a), new.get(b)) {
            (Some(left), Some(right)) if left == right => (a, b) = (a + 1, b + 1),
            (Some(left), right)
                if right.is_none() || get(&common, a + 1, b) >= get(&common, a, b + 1) =>
            {
                lines.push(('-', *left));
                a += 1;
            }
            (_, Some(right)) => {
                lines.push(('+', *right));
                b += 1;
            }
            (_, None) => return lines,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::changed;

    #[test]
    fn only_what_changes_is_shown() {
        let told = changed("a\nb\nc\nd", "a\nx\nc\nd\ne");
        assert_eq!(told, [('-', "b"), ('+', "x"), ('+', "e")]);
        assert_eq!(changed("", "a"), [('+', "a")]);
        assert_eq!(changed("a\nb", ""), [('-', "a"), ('-', "b")]);
        assert!(changed("a\nb", "a\nb").is_empty());
    }
}
