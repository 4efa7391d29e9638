//! `task create`: a task that is taken under claims.

use crate::command::stamp::Stamp;
use crate::context::Context;
use crate::exit::{CommandError, Exit, Outcome};
use crate::render::claim;
use serde_json::{Map, Value};
use teamlog_team::api::{self, Op};
use teamlog_team::engine::Json;
use teamlog_team::task::create::TaskCreate;

/// Make a task, to be taken under a claim
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog task create demo --subject 'Fix the login'
  teamlog task create demo --subject 'Ship it' --task-id T-9 --blocked-by T-1 --key k-9
  teamlog task create demo --subject 'Mend reading' --resource src/io --resource 'tests/io/*.rs'")]
pub struct Create {
    /// The team
    team: String,
    /// What it is, in a line
    #[arg(long, value_name = "TEXT")]
    subject: String,
    /// What it is, at length
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// Its id [default: the next number of the team]
    #[arg(long, value_name = "ID")]
    task_id: Option<String>,
    /// Who is to take it [default: whoever wants it]
    #[arg(long, value_name = "AGENT")]
    owner: Option<String>,
    /// Tasks that must be completed first, separated by commas
    #[arg(long, value_name = "T,U", value_delimiter = ',')]
    blocked_by: Vec<String>,
    /// low, normal, high or critical [default: normal]
    #[arg(long, value_name = "PRIORITY")]
    priority: Option<String>,
    /// A path that its holder may write, relative to the repository, with what lies below it; may stand several times
    #[arg(long = "resource", value_name = "PATH")]
    resources: Vec<String>,
    /// Whether others may hold the same paths meanwhile [default: only where the one resource is .]
    #[arg(long, value_name = "true|false", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    shared: Option<bool>,
    /// It cannot be done without changing code
    #[arg(long)]
    requires_code_change: bool,
    /// More to say of it, a JSON object; kept with the task as it is
    #[arg(long, value_name = "JSON")]
    extra_json: Option<String>,
    #[command(flatten)]
    stamp: Stamp,
}

impl Create {
    pub fn run(self, context: &mut Context) -> Outcome {
        let input = TaskCreate {
            subject: self.subject,
            description: self.description.unwrap_or_default(),
            task_id: self.task_id,
            owner: self.owner,
            blocked_by: Some(self.blocked_by).filter(|tasks| !tasks.is_empty()),
            requires_code_change: self.requires_code_change.then_some(true),
            priority: self.priority,
            resources: Some(self.resources).filter(|paths| !paths.is_empty()),
            shared: self.shared,
            extra: extra(self.extra_json.as_deref())?,
        };
        self.stamp
            .carry_out(context, &self.team, input, claim::created)?;
        Ok(Exit::Done)
    }
}

fn extra(text: Option<&str>) -> Result<Map<String, Value>, CommandError> {
    let Some(text) = text else {
        return Ok(Map::new());
    };
    let invalid = |why: String| {
        CommandError::invalid(
            "extra_json",
            format!("extra_json must be a JSON object, but {why}"),
        )
    };
    // Stricter than the parser below: no key twice, no number out of bounds, nothing nested without end.
    let json = Json::parse(text).map_err(|error| invalid(error.to_string()))?;
    match serde_json::from_str::<Value>(json.as_str()) {
        Ok(Value::Object(fields)) => match fields.keys().find(|name| is_known(name)) {
            Some(name) => Err(invalid(format!("{name} is not more than what options say"))),
            None => Ok(fields),
        },
        Ok(_) => Err(invalid("is none".to_owned())),
        Err(error) => Err(invalid(error.to_string())),
    }
}

/// Whether the operation has a field of that name, which would get in the way of what options say.
fn is_known(name: &str) -> bool {
    let operation = api::find(TaskCreate::NAME);
    operation.is_some_and(|operation| {
        let fields = operation.shape().fields;
        fields.iter().any(|field| field.name == name)
    })
}
