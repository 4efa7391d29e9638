//! Macros for commands of several words (a table of the last words, for clap, `schema` and the run), and for the two
//! common kinds of commands: read something, and change something.

/// A row names the arguments, the word and the printed answer. (Doc comments here would become help text.)
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

        pub(super) fn printed() -> Vec<crate::command::printed::Printed> {
            vec![$($printed($name)),+]
        }

        impl Args {
            pub fn run(self, context: &mut crate::context::Context) -> crate::exit::Outcome {
                match self.action {
                    $(Action::$action(action) => action.run(context),)+
                }
            }
        }
    };
}

/// Declares a command that reads by an operation and shows its answer. The input takes the options with the same names,
/// or the result of the closure. With `at`, the past can be read.
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

/// Declares a command that carries out a recording operation and shows its answer. Unless they are its own fields, the
/// row names the places of the team and the stamp.
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
