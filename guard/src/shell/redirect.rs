//! Redirections: what they write, and what they give to read.

use super::*;
use brush_parser::ast::{IoFileRedirectKind, IoFileRedirectTarget, IoRedirect, RedirectList};

impl Walker {
    pub(super) fn redirects(&mut self, redirects: Option<&RedirectList>) {
        for redirect in redirects.iter().flat_map(|list| &list.0) {
            self.redirect(redirect);
        }
    }

    /// What a redirection writes; gives back what it puts on the standard input.
    pub(super) fn redirect(&mut self, redirect: &IoRedirect) -> Option<Stdin> {
        match redirect {
            IoRedirect::OutputAndError(word, append) => {
                let value = self.word(word);
                self.target(&value, if *append { "&>>" } else { "&>" });
                None
            }
            IoRedirect::HereDocument(_, document) if document.requires_expansion => {
                let read = word::read_body(&document.doc.value);
                Some(Stdin::of(self.inside(read)))
            }
            IoRedirect::HereDocument(_, document) => Some(Stdin::Text(document.doc.value.clone())),
            IoRedirect::HereString(_, word) => Some(Stdin::of(self.word(word))),
            IoRedirect::File(_, kind, target) => self.file(kind, target),
        }
    }

    fn file(&mut self, kind: &IoFileRedirectKind, target: &IoFileRedirectTarget) -> Option<Stdin> {
        let by = match kind {
            IoFileRedirectKind::Read | IoFileRedirectKind::DuplicateInput => None,
            IoFileRedirectKind::Write => Some(">"),
            IoFileRedirectKind::Append => Some(">>"),
            IoFileRedirectKind::ReadAndWrite => Some("<>"),
            IoFileRedirectKind::Clobber => Some(">|"),
            IoFileRedirectKind::DuplicateOutput => Some(">&"),
        };
        match target {
            IoFileRedirectTarget::Fd(_) => {}
            IoFileRedirectTarget::ProcessSubstitution(_, subshell) => {
                self.remember().concurrent = true;
                self.clone().list(&subshell.list);
            }
            IoFileRedirectTarget::Filename(word) | IoFileRedirectTarget::Duplicate(word) => {
                let value = self.word(word);
                let is_number = value.plain().is_some_and(|text| {
                    let digits = text.trim_end_matches('-');
                    digits.bytes().all(|byte| byte.is_ascii_digit())
                });
                let duplicates = matches!(
                    kind,
                    IoFileRedirectKind::DuplicateOutput | IoFileRedirectKind::DuplicateInput
                );
                if let (Some(by), false) = (by, duplicates && is_number) {
                    self.target(&value, by);
                }
            }
        }
        by.is_none().then_some(Stdin::Other)
    }
}
