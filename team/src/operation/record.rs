//! Macros for the record of an operation. The record is in the file with the code of the operation.

/// Declares an operation by its record:
///
/// ```text
/// operation! {
///     /// Cancel a task
///     "cancel-task": Records(TaskCancel {
///         /// The task
///         task_id: String,
///         /// Why
///         reason: Option<String>,
///     }) -> TaskAnswer as task_cancel,
///     refuses = [TaskNotFound, AlreadyTerminal]
/// }
/// ```
///
/// The parts of the record, in this order:
///
/// - The documentation of the operation, in a line without a full stop.
/// - Its name, and its [`Effect`](super::Effect).
/// - Its input. With braces, the input type is declared here as well, and fields of type `Option` may be absent. Without braces, the input
///   is a type that is declared elsewhere.
/// - The type of the answer's data.
/// - The function that carries the operation out. After `as`, it is a method of [`Team`](crate::Team) that this macro declares, for an
///   input that is a command, or that answers from the state alone. After `=`, it is any other function.
/// - `refuses`: the refusal codes of the operation, beside the codes of every operation.
/// - `scope`: the scope that an agent token needs, if it is not the default for the effect.
/// - `rules`: the rules for reading the input, if they differ from the common rules.
/// - `empty`: for an operation that reads: the data for an unknown team or worker. The answer then has a warning instead of a refusal.
/// - `warns`: true if an operation that records warns of an unknown worker.
/// - `without_team`: the refusal if the team does not exist.
macro_rules! operation {
    (
        $(#[doc = $doc:literal])+
        $name:literal: $effect:ident($input:ident { $($fields:tt)* }) -> $($rest:tt)+
    ) => {
        $crate::operation::record::input! { $name: $input { $($fields)* } }

        $crate::operation::record::operation! {
            $(#[doc = $doc])+
            $name: $effect($input) -> $($rest)+
        }
    };
    (
        $(#[doc = $doc:literal])+
        $name:literal: Records($input:ty) -> $data:ty as $method:ident $(, $($rest:tt)+)?
    ) => {
        impl $crate::Team {
            $(#[doc = $doc])+
            pub fn $method(&mut self, input: $input) -> $crate::Result<$data> {
                self.execute(input)
            }
        }
        $crate::operation::record::operation! {
            $(#[doc = $doc])+
            $name: Records($input) -> $data = $crate::Team::$method $(, $($rest)+)?
        }
    };
    (
        $(#[doc = $doc:literal])+
        $name:literal: Reads($input:ty) -> $data:ty as $method:ident $(, $($rest:tt)+)?
    ) => {
        impl $crate::Team {
            $(#[doc = $doc])+
            pub fn $method(&mut self, input: $input) -> $crate::Result<$data> {
                self.query(|live, _| input.answer(live))
            }
        }
        $crate::operation::record::operation! {
            $(#[doc = $doc])+
            $name: Reads($input) -> $data = $crate::Team::$method $(, $($rest)+)?
        }
    };
    (
        $(#[doc = $doc:literal])+
        $name:literal: $effect:ident($input:ty) -> $data:ty = $run:expr
        $(, refuses = [$($code:ident),+ $(,)?])?
        $(, scope = $scope:ident)?
        $(, rules = $rules:expr)?
        $(, empty = $empty:expr)?
        $(, warns = $warns:literal)?
        $(, without_team = $without_team:expr)?
    ) => {
        impl $crate::operation::Op for $input {
            type Data = $data;
            const NAME: &'static str = $name;
            const DOC: &'static str = concat!($($doc),+).trim_ascii();
            const EFFECT: $crate::operation::Effect = $crate::operation::Effect::$effect;
            $(const REFUSALS: &'static [$crate::Code] = &[$($crate::Code::$code),+];)?
            $(
                const SCOPE: $crate::projections::agent_token::event::AgentScope =
                    $crate::projections::agent_token::event::AgentScope::$scope;
            )?
            $(const RULES: $crate::operation::Rules = $rules;)?

            fn run(self, team: &mut $crate::Team) -> $crate::Result<$data> {
                let run: fn(&mut $crate::Team, $input) -> $crate::Result<$data> = $run;
                run(team, self)
            }

            $(
                const ANSWERS_EMPTY: bool = true;

                fn without_team(&self, missing: $crate::refusal::Refusal) -> $crate::Result<$data> {
                    let empty: fn(&$input, $crate::refusal::Refusal) -> $data = $empty;
                    Ok(empty(self, missing))
                }
            )?

            $(const ANSWERS_EMPTY: bool = $warns;)?

            $(
                fn without_team(&self, missing: $crate::refusal::Refusal) -> $crate::Result<$data> {
                    Err($without_team(missing).into())
                }
            )?
        }
    };
}

/// Declares the input type of an operation. Moves its fields one by one into the braces, then declares the type.
///
/// Under the feature `cli` the input derives `clap::Args`. `#[arg(…)]` on a field says how the command line takes it, and its
/// doc comment is the help text as well as the description in the JSON schema. The command line has no field without `#[arg(…)]`.
macro_rules! input {
    ($name:literal: $input:ident { $($fields:tt)* }) => {
        $crate::operation::record::input! { @field $name, $input, { }, [skip] [] $($fields)* }
    };
    (@field $name:literal, $input:ident, { $($fields:tt)* }, [skip] []) => {
        #[doc = concat!("The input of `", $name, "`.")]
        #[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[cfg_attr(feature = "cli", derive(clap::Args))]
        #[cfg_attr(feature = "cli", group(skip))]
        #[serde(deny_unknown_fields)]
        pub struct $input { $($fields)* }
    };
    (
        @field $name:literal, $input:ident, $fields:tt, [skip] $attributes:tt
        #[arg($($arg:tt)*)] $($rest:tt)*
    ) => {
        $crate::operation::record::input! {
            @field $name, $input, $fields, [$($arg)*] $attributes $($rest)*
        }
    };
    (
        @field $name:literal, $input:ident, $fields:tt, $arg:tt [$($attributes:tt)*]
        #[$($attribute:tt)*] $($rest:tt)*
    ) => {
        $crate::operation::record::input! {
            @field $name, $input, $fields, $arg [$($attributes)* #[$($attribute)*]] $($rest)*
        }
    };
    (
        @field $name:literal, $input:ident, { $($fields:tt)* }, [$($arg:tt)*] [$($attributes:tt)*]
        $field:ident: Option<$type:ty>, $($rest:tt)*
    ) => {
        $crate::operation::record::input! { @field $name, $input, {
            $($fields)*
            $($attributes)*
            #[serde(default, skip_serializing_if = "Option::is_none")]
            #[cfg_attr(feature = "cli", arg($($arg)*))]
            pub $field: Option<$type>,
        }, [skip] [] $($rest)* }
    };
    (
        @field $name:literal, $input:ident, { $($fields:tt)* }, [$($arg:tt)*] [$($attributes:tt)*]
        $field:ident: $type:ty, $($rest:tt)*
    ) => {
        $crate::operation::record::input! { @field $name, $input, {
            $($fields)*
            $($attributes)*
            #[cfg_attr(feature = "cli", arg($($arg)*))]
            pub $field: $type,
        }, [skip] [] $($rest)* }
    };
}

pub(crate) use {input, operation};
