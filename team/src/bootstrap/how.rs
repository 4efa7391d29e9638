//! How members are launched: all at once, or one by one.

use super::*;

/// How members are launched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// All at once.
    Team(Method),
    /// By tasks of the lead's.
    ByTask,
}

/// Words by which a launch is one of single members.
const BY_TASK: [&str; 6] = [
    "task",
    "per_member",
    "per-member",
    "one_by_one",
    "one-by-one",
    "individual",
];

/// By what, and in which mode: that of a team, or one by which it is by tasks.
pub fn how(fields: &Fields) -> Result<Option<How>, Refusal> {
    let by_task = |text: &str| {
        let lower = text.to_lowercase();
        BY_TASK.iter().any(|word| lower.contains(word))
    };
    match fields.text("launch_mode")? {
        Some(mode) if by_task(&mode) => return Ok(Some(How::ByTask)),
        Some(mode) if mode != LAUNCH_MODE => {
            let rule = format!("must be {LAUNCH_MODE}");
            return Err(invalid("launch_mode", &mode, &rule));
        }
        _ => {}
    }
    let Some(text) = fields.text("method")? else {
        return Ok(None);
    };
    if let Some(method) = Method::from_any_case(&text) {
        return Ok(Some(How::Team(method)));
    }
    match by_task(&text) {
        true => Ok(Some(How::ByTask)),
        false => Err(no_method(&text)),
    }
}

pub fn no_method(text: &str) -> Refusal {
    invalid("method", text, Method::rule())
}
