//! How the record of an operation is written, in the file that carries it out.

/// The record of an operation:
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
/// That is what it does (in a line without a full stop), its name, its [`Effect`](super::Effect), its input, the data that it answers and
/// the method of [`Team`](crate::Team) that carries it out: behind `as` one that is made here for an input that is a command, or that
/// answers from the state by itself, behind `=` any other function. The input is made here as well (a field that is an `Option` may be left out), unless it only names a
/// type that stands elsewhere. Behind that stand the codes with which it refuses, beside those of every operation, and where
/// it differs from the others `scope`, how far the token of an agent has to let it; `rules`, how its input is read; `empty`, the data of an operation that reads
/// where there is no such team or worker, so that this is a warning; `warns`, that an operation which records warns of such a
/// worker; `without_team`, how it says that there is no such team.
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

/// The input of an operation: moves its fields one by one into the braces, then declares it.
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
