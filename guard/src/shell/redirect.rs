//! Redirections: the files that they write, and the input that they provide.

use super::*;
use brush_parser::ast::{IoFileRedirectKind, IoFileRedirectTarget, IoRedirect, RedirectList};

impl Walker {
    pub(super) fn redirects(&mut self, redirects: Option<&RedirectList>) {
        for redirect in redirects.iter().flat_map(|list| &list.0) {
            self.in_each_case(&redirect.to_string(), |walker| {
                walker.redirect(redirect);
            });
        }
    }

    /// Handles a redirection. Returns the standard input if the redirection sets it.
    pub(super) fn redirect(&mut self, redirect: &IoRedirect) -> Option<Stdin> {
        match redirect {
            IoRedirect::OutputAndError(word, append) => {
                let value = self.word(word);
                self.target(&value, if *append { "&>>" } else { "&>" });
                self.open_descriptor(1, true);
                self.open_descriptor(2, true);
                None
            }
            IoRedirect::HereDocument(number, document) => {
                self.open_descriptor(number.map_or(Some(0), to_number), false);
                let text = &document.doc.value;
                match document.requires_expansion {
                    true => Some(Stdin::from_value(word::read_body(text, self))),
                    false => Some(Stdin::Text(text.clone())),
                }
            }
            IoRedirect::HereString(number, word) => {
                self.open_descriptor(number.map_or(Some(0), to_number), false);
                Some(Stdin::from_value(self.word(word)))
            }
            IoRedirect::File(number, kind, target) => {
                let first = match kind {
                    IoFileRedirectKind::Read
                    | IoFileRedirectKind::DuplicateInput
                    | IoFileRedirectKind::ReadAndWrite => 0,
                    _ => 1,
                };
                self.file(number.map_or(Some(first), to_number), kind, target)
            }
        }
    }

    /// Records that a descriptor is opened.
    fn open_descriptor(&self, number: impl Into<Option<u32>>, writable: bool) {
        if let Some(number) = number.into() {
            self.remember().open_descriptor(number, writable);
        }
    }

    /// Makes a descriptor a copy of the descriptor `other`.
    fn duplicates(&self, number: Option<u32>, other: Option<u32>) {
        let writable = other.is_some_and(|other| self.history().may_reopen(other));
        self.open_descriptor(number, writable);
    }

    fn file(
        &mut self,
        number: Option<u32>,
        kind: &IoFileRedirectKind,
        target: &IoFileRedirectTarget,
    ) -> Option<Stdin> {
        let by = match kind {
            IoFileRedirectKind::Read | IoFileRedirectKind::DuplicateInput => None,
            IoFileRedirectKind::Write => Some(">"),
            IoFileRedirectKind::Append => Some(">>"),
            IoFileRedirectKind::ReadAndWrite => Some("<>"),
            IoFileRedirectKind::Clobber => Some(">|"),
            IoFileRedirectKind::DuplicateOutput => Some(">&"),
        };
        match target {
            IoFileRedirectTarget::Fd(other) => self.duplicates(number, to_number(*other)),
            IoFileRedirectTarget::ProcessSubstitution(_, subshell) => {
                self.remember().concurrent = true;
                self.open_descriptor(number, true);
                self.clone().list(&subshell.list);
            }
            IoFileRedirectTarget::Filename(word) | IoFileRedirectTarget::Duplicate(word) => {
                let value = self.word(word);
                let other = value.plain().map(|text| text.trim_end_matches('-'));
                let is_number =
                    other.is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
                let duplicates = matches!(
                    kind,
                    IoFileRedirectKind::DuplicateOutput | IoFileRedirectKind::DuplicateInput
                );
                match (by, duplicates && is_number) {
                    // `other` is empty, so the descriptor is closed.
                    (_, true) if other == Some("") => {}
                    (_, true) => {
                        self.duplicates(number, other.and_then(|digits| digits.parse().ok()));
                    }
                    (Some(by), false) => {
                        self.target(&value, by);
                        self.open_descriptor(number, true);
                        if duplicates {
                            self.open_descriptor(2, true);
                        }
                    }
                    (None, false) => self.open_descriptor(number, false),
                }
            }
        }
        by.is_none().then_some(Stdin::Other)
    }
}

fn to_number(number: i32) -> Option<u32> {
    u32::try_from(number).ok()
}

/// Returns true if a redirection changes the standard output of a command.
pub(super) fn gives_output(redirect: &IoRedirect) -> bool {
    match redirect {
        IoRedirect::OutputAndError(..) => true,
        IoRedirect::File(number, kind, _) => {
            let reads = matches!(
                kind,
                IoFileRedirectKind::Read
                    | IoFileRedirectKind::DuplicateInput
                    | IoFileRedirectKind::ReadAndWrite
            );
            *number == Some(1) || (number.is_none() && !reads)
        }
        IoRedirect::HereDocument(..) | IoRedirect::HereString(..) => false,
    }
}
