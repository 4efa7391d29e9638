//! Renders settings.

use crate::render::prelude::*;
use teamlog_team::lifecycle::config::{
    ConfigChangeAnswer, ConfigGetAnswer, ConfigListAnswer, ConfigStatus, SettingShown,
};

/// Renders rows of `key value description`. Changed values are highlighted.
pub fn page(answer: &ConfigListAnswer, view: &View) -> Vec<String> {
    let mut shown = lines(answer.settings.iter().map(row), 0, view);
    shown.extend(more_below("more", &answer.next_cursor));
    shown
}

fn row(setting: &SettingShown) -> Vec<Cell> {
    let (style, about) = match setting.set {
        true => (
            Style::Bold,
            format!("{} (default {})", setting.about, setting.default),
        ),
        false => (Style::Plain, setting.about.clone().into_owned()),
    };
    vec![
        plain(&setting.key),
        number_styled(style, setting.value.to_string()),
        free_text(Style::Dim, about),
    ]
}

pub fn one(answer: &ConfigGetAnswer, view: &View) -> Vec<String> {
    lines([row(&answer.setting)], 0, view)
}

/// Formats a line such as `views: true -> false`.
pub fn changed(answer: &ConfigChangeAnswer, view: &View) -> Vec<String> {
    let ConfigChangeAnswer { key, value, .. } = answer;
    let how = if answer.set { "" } else { ", its default" };
    vec![match answer.status {
        ConfigStatus::Unchanged => format!("{key} is {value} already{how}"),
        ConfigStatus::Changed => format!(
            "{} {key}: {} -> {value}{how}",
            view.paint.show(Style::Good, "changed"),
            answer.previous
        ),
    }]
}
