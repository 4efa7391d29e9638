//! The state of a team and its views: given events, then what is asked.

mod folds;
mod histories;
mod real;
mod support;
mod views;
