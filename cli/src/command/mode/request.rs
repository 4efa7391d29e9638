//! What commands of modes have in common: the mode that is meant, and fields of its state.

use crate::command::session::SessionScope;
use crate::context::Context;
use crate::exit::CommandError;
use crate::given;
use serde_json::{Map, Value};

// The mode that is meant. (A doc comment would become the text of every command that takes these.)
#[derive(Debug, clap::Args)]
#[group(skip)]
pub struct Target {
    /// The team
    pub team: String,
    /// The mode
    #[arg(value_name = "MODE")]
    pub mode: String,
    #[command(flatten)]
    pub scope: SessionScope,
}

// Fields of its state. (A doc comment would become the text of every command that takes these.)
#[derive(Debug, clap::Args)]
#[group(skip)]
pub struct Fields {
    /// A field of its state, JSON or text; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = given::field)]
    set: Vec<(String, Value)>,
    /// Fields of its state, a JSON object
    #[arg(long, value_name = "JSON|@FILE|-")]
    input: Option<String>,
}

impl Fields {
    /// All of them; what `--set` says counts before what `--input` holds.
    ///
    /// # Errors
    /// The input is no JSON object.
    pub fn all(self, context: &Context) -> Result<Option<Map<String, Value>>, CommandError> {
        let input = self.input;
        let input = input.map(|text| given::object(context.env(), "input", &text));
        let mut fields = input.transpose()?.unwrap_or_default();
        fields.extend(self.set);
        Ok(Some(fields).filter(|fields| !fields.is_empty()))
    }
}
