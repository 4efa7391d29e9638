//! Commands of several words: from a table of the last words to what clap, `schema` and the run ask for.

/// A row says the name of the arguments, the word and what is printed. (Nothing here has a doc comment, which would become
/// the text of the command.)
macro_rules! actions {
    ($($action:ident = $name:literal, $printed:expr;)+) => {
        #[derive(Debug, clap::Args)]
        pub struct Args {
            #[command(subcommand)]
            action: Action,
        }

        #[derive(Debug, clap::Subcommand)]
        enum Action {
            $(#[command(name = $name)] $action($action),)+
        }

        pub(super) const PRINTED: &[crate::command::printed::Printed] = &[$($printed($name)),+];

        impl Args {
            pub fn run(self, context: &mut crate::context::Context) -> crate::exit::Outcome {
                match self.action {
                    $(Action::$action(action) => action.run(context),)+
                }
            }
        }
    };
}
