//! Edits lines of teamlog between two marks in a person's text. The rest of the text stays unchanged byte for byte.
//! Removing the lines restores the original text.

use std::ops::Range;

/// The begin mark and the end mark of teamlog's lines.
#[derive(Debug, Clone, Copy)]
pub struct Block {
    pub begin: &'static str,
    pub end: &'static str,
}

pub const TOML: Block = Block {
    begin: "# teamlog setup: begin; the lines up to the end are replaced",
    end: "# teamlog setup: end",
};
pub const MARKDOWN: Block = Block {
    begin: "<!-- teamlog setup: begin; the lines up to the end are replaced -->",
    end: "<!-- teamlog setup: end -->",
};

impl Block {
    /// Returns the text with `lines` between the marks. Replaces existing lines; without marks, appends marks and lines.
    ///
    /// # Errors
    /// The text has a begin mark without an end mark. The error text is the end of a sentence that the caller begins.
    pub fn put(self, text: &str, lines: &str) -> Result<String, String> {
        let block = format!("{}\n{}\n{}", self.begin, lines.trim_end(), self.end);
        if let Some(place) = self.place(text)? {
            let (before, after) = around(text, &place);
            return Ok(format!("{before}{block}{after}"));
        }
        Ok(match text {
            "" => format!("{block}\n"),
            _ if text.ends_with('\n') => format!("{text}\n{block}\n"),
            // No line break follows the block. The missing line break records that the original text did not end with
            // a line break.
            _ => format!("{text}\n\n{block}"),
        })
    }

    /// Returns the text without the marks and the lines between them.
    pub fn without(self, text: &str) -> Result<String, String> {
        let Some(place) = self.place(text)? else {
            return Ok(text.to_owned());
        };
        let (before, after) = around(text, &place);
        Ok(match after.strip_prefix('\n') {
            None => before.strip_suffix("\n\n").unwrap_or(before).to_owned(),
            Some(after) => {
                let parted = before.ends_with("\n\n");
                let before = before.strip_suffix('\n').filter(|_| parted);
                format!("{}{after}", before.unwrap_or(around(text, &place).0))
            }
        })
    }

    /// Returns the range from the begin mark to the end of the end mark.
    fn place(self, text: &str) -> Result<Option<Range<usize>>, String> {
        let Some(start) = line(text, self.begin, 0) else {
            return Ok(None);
        };
        match line(text, self.end, start) {
            Some(end) => Ok(Some(start..end + self.end.len())),
            None => Err(format!("the line {:?} is missing", self.end)),
        }
    }
}

fn around<'a>(text: &'a str, place: &Range<usize>) -> (&'a str, &'a str) {
    let before = text.get(..place.start).unwrap_or_default();
    (before, text.get(place.end..).unwrap_or_default())
}

/// Returns the offset of the first line that equals `wanted`, searching from `from`.
fn line(text: &str, wanted: &str, from: usize) -> Option<usize> {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if at >= from && line.trim_end_matches(['\n', '\r']) == wanted {
            return Some(at);
        }
        at += line.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_comes_out_as_it_went_in() {
        for text in [
            "",
            "a\n",
            "a",
            "a\n\n",
            "\n",
            "# A\n\nb\n\n\n",
            "a\r\nb\r\n",
        ] {
            let put = MARKDOWN.put(text, "one\n").unwrap();
            assert!(put.starts_with(text) && put.contains("one"), "{put:?}");
            assert_eq!(MARKDOWN.put(&put, "one").unwrap(), put, "{text:?}");
            let other = MARKDOWN.put(&put, "two\nthree").unwrap();
            assert!(!other.contains("one") && other.contains("two\nthree"));
            assert_eq!(MARKDOWN.without(&other).unwrap(), text, "{other:?}");
        }
    }

    #[test]
    fn what_was_written_behind_it_stays() {
        let text = MARKDOWN.put("a\n", "one").unwrap() + "\nb\n";
        let changed = MARKDOWN.put(&text, "two").unwrap();
        assert!(changed.ends_with("\nb\n"), "{changed:?}");
        assert_eq!(MARKDOWN.without(&changed).unwrap(), "a\n\nb\n");
        let torn = text.replace(MARKDOWN.end, "");
        assert!(MARKDOWN.put(&torn, "x").is_err());
        assert!(MARKDOWN.without(&torn).is_err());
    }
}
