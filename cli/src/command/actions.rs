//! Commands of several words: from a table of the last words to what clap, `schema` and the run ask for. And the two ways that most
//! commands go: to read something, and to change something.

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

/// Has a command read by an operation, whose input has what was typed: the options of the same names, or as the closure says; and
/// show the answer. With `at` the past may be read.
macro_rules! reads {
    ($args:ident, at, $show:expr, |$typed:ident, $context:ident| $input:expr) => {
        impl $args {
            pub fn run(self, $context: &mut Context) -> Outcome {
                let $typed = self;
                let input = $input;
                $context.show_at(&$typed.team, $typed.at, input, $show)
            }
        }
    };
    ($args:ident, $show:expr, |$typed:ident, $context:ident| $input:expr) => {
        impl $args {
            pub fn run(self, $context: &mut Context) -> Outcome {
                let $typed = self;
                let input = $input;
                $context.show(&$typed.team, input, $show)
            }
        }
    };
    ($args:ident, at, $show:expr, $($input:ident)::+($($field:ident),+)) => {
        reads!($args, at, $show, |typed, context| $($input)::+ { $($field: typed.$field),+ });
    };
    ($args:ident, $show:expr, $($input:ident)::+($($field:ident),+)) => {
        reads!($args, $show, |typed, context| $($input)::+ { $($field: typed.$field),+ });
    };
}

/// Has a command carry out an operation that changes something, and show its answer. Where they are not fields of its own, it says
/// where the team and the stamp stand.
macro_rules! records {
    ($args:ident, $show:expr, |$typed:ident, $context:ident| $input:expr) => {
        records!($args, team, stamp, $show, |$typed, $context| $input);
    };
    (
        $args:ident, $($team:ident).+, $($stamp:ident).+, $show:expr, |$typed:ident, $context:ident| $input:expr
    ) => {
        impl $args {
            pub(in crate::command) fn run(self, $context: &mut Context) -> Outcome {
                let $typed = self;
                let input = $input;
                $typed.$($stamp).+.carry_out($context, &$typed.$($team).+, input, $show)
            }
        }
    };
}
