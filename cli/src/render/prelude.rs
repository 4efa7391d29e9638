//! Common imports of the render files.

pub use super::escape::visible;
pub use super::style::Style;
pub use super::table::{Cell, free_text, lines, number, number_styled, plain, styled, titles};
pub use super::{
    View, heading, more, more_below, names_or, page, push_below, shortened, time, wrap,
};
pub use teamlog_team::engine::Timestamp;
