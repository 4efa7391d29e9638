//! What a command has done so far that changes what its later parts mean, in whichever subshell it was.

use super::links::Links;

#[derive(Debug, Default)]
pub(super) struct History {
    pub links: Links,
    /// Scripts that run at some later moment, wherever that is.
    pub traps: Vec<String>,
    /// Some text begins with a dash: an expansion may stand for an option.
    pub dashed: bool,
    /// Something runs beside what follows it, or after it.
    pub concurrent: bool,
}

impl History {
    /// Text that an expansion may give to a later program.
    pub fn text(&mut self, text: &str) {
        // However it is split into words later.
        let parts = text.split(|letter: char| !letter.is_alphanumeric() && letter != '-');
        self.dashed |= parts
            .into_iter()
            .any(|part| part.len() > 1 && part.starts_with('-'));
    }
}
