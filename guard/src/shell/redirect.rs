//! Redirections: what they write, and what they give to read.

use super::walk::{Stdin, Walker};
use super::word::{self, Value};
use crate::writes::Writes;
use brush_parser::ast::{IoFileRedirectKind, IoFileRedirectTarget, IoRedirect};

impl Walker {
    pub(super) fn redirects<'a>(
        &mut self,
        redirects: impl Iterator<Item = &'a IoRedirect>,
        writes: &mut Writes,
    ) {
        for redirect in redirects {
            self.redirect(redirect, writes);
        }
    }

    /// What a redirection writes; gives back what it puts on the standard input.
    pub(super) fn redirect(&mut self, redirect: &IoRedirect, writes: &mut Writes) -> Option<Stdin> {
        match redirect {
            IoRedirect::OutputAndError(word, append) => {
                let value = self.word(word, writes);
                self.target(&value, if *append { "&>>" } else { "&>" }, writes);
                None
            }
            IoRedirect::HereDocument(_, document) => {
                let body = &document.doc.value;
                if document.requires_expansion {
                    let read = word::read_body(body);
                    return Some(match self.inside(read, writes) {
                        Value::Plain(text) => Stdin::Text(text),
                        _ => Stdin::Other,
                    });
                }
                Some(Stdin::Text(body.clone()))
            }
            IoRedirect::HereString(_, word) => Some(match self.word(word, writes) {
                Value::Plain(text) => Stdin::Text(text),
                _ => Stdin::Other,
            }),
            IoRedirect::File(_, kind, target) => self.file(kind, target, writes),
        }
    }

    fn file(
        &mut self,
        kind: &IoFileRedirectKind,
        target: &IoFileRedirectTarget,
        writes: &mut Writes,
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
            IoFileRedirectTarget::Fd(_) => {}
            IoFileRedirectTarget::ProcessSubstitution(_, subshell) => {
                self.remember().concurrent = true;
                self.clone().list(&subshell.list, writes);
            }
            IoFileRedirectTarget::Filename(word) | IoFileRedirectTarget::Duplicate(word) => {
                let value = self.word(word, writes);
                let is_number = value.plain().is_some_and(|text| {
                    let digits = text.trim_end_matches('-');
                    digits.bytes().all(|byte| byte.is_ascii_digit())
                });
                let duplicates = matches!(
                    kind,
                    IoFileRedirectKind::DuplicateOutput | IoFileRedirectKind::DuplicateInput
                );
                if let (Some(by), false) = (by, duplicates && is_number) {
                    self.target(&value, by, writes);
                }
            }
        }
        by.is_none().then_some(Stdin::Other)
    }
}
