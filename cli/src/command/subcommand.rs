//! Subcommands as rows of a table. Most subcommands carry out one operation. The arguments of such a subcommand are
//! TEAM and the operation's input, whose type derives `clap::Args`. A row adds the renderer of the answer, and
//! options that the input does not have.

use super::Past;
use super::printed::{Printed, of};
use super::stamp::Stamp;
use crate::call::Call;
use crate::context::Context;
use crate::exit::{CommandError, Exit, Outcome};
use crate::forward::Repeat;
use crate::render::View;
use clap::builder::Resettable;
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Args as _, FromArgMatches};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt;
use teamlog_team::api::{Effect, Op};

/// Default value of an option for the acting agent, as printed in the help. If argv has no value, the command replaces this text by the
/// acting agent.
const ACTING: &str = "the acting agent";

/// A subcommand of the command line.
pub trait Subcommand {
    fn name(&self) -> &'static str;

    /// Returns the one-line description for lists of commands.
    fn about(&self) -> &'static str;

    /// Describes the printed answer.
    fn printed(&self) -> Printed;

    /// Adds help texts and arguments to a clap definition.
    fn define(&self, command: clap::Command) -> clap::Command;

    /// Runs the subcommand with the parsed arguments.
    fn run(&self, matches: ArgMatches, context: &mut Context) -> Outcome;
}

/// The subcommand on the command line, with its arguments.
pub struct Invocation {
    subcommand: &'static dyn Subcommand,
    matches: ArgMatches,
}

impl fmt::Debug for Invocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?}", self.subcommand.name(), self.matches)
    }
}

impl Invocation {
    pub fn new(subcommand: &'static dyn Subcommand, matches: ArgMatches) -> Invocation {
        Invocation {
            subcommand,
            matches,
        }
    }

    /// Finds the row of the subcommand on the command line.
    pub fn find(
        rows: &[&'static dyn Subcommand],
        matches: &mut ArgMatches,
    ) -> Result<Invocation, clap::Error> {
        let typed = matches.remove_subcommand().and_then(|(name, matches)| {
            let row = rows.iter().find(|row| row.name() == name)?;
            Some(Invocation::new(*row, matches))
        });
        typed.ok_or_else(|| clap::Error::new(ErrorKind::MissingSubcommand))
    }

    pub fn run(self, context: &mut Context) -> Outcome {
        self.subcommand.run(self.matches, context)
    }
}

/// Declares the subcommands of a module. A single row is the command itself. Several rows are the second words of a
/// command; only the arguments of the typed row are defined.
macro_rules! subcommands {
    ($row:expr) => {
        const ROW: &dyn crate::command::subcommand::Subcommand = &$row;

        subcommands! {
            @args
            |command| ROW.define(command),
            |matches| crate::command::subcommand::Invocation::new(ROW, std::mem::take(matches)),
            vec![ROW.printed().of_whole_command()]
        }
    };
    (@examples $examples:literal; $($name:ident = $row:expr;)+) => {
        $(const $name: &dyn crate::command::subcommand::Subcommand = &$row;)+
        const ROWS: &[&dyn crate::command::subcommand::Subcommand] = &[$($name),+];

        subcommands! {
            @args
            |command| command
                .subcommand_required(true)
                .arg_required_else_help(true)
                .after_help(concat!("Examples:\n", $examples))
                $(.subcommand(
                    clap::Command::new($name.name())
                        .about($name.about())
                        .defer(|command| crate::team_argument::documented($name.define(command))),
                ))+,
            |matches| crate::command::subcommand::Invocation::find(ROWS, matches)?,
            ROWS.iter().map(|row| row.printed()).collect()
        }
    };
    (@args |$command:ident| $defined:expr, |$matches:ident| $invocation:expr, $printed:expr) => {
        #[derive(Debug)]
        pub struct Args(crate::command::subcommand::Invocation);

        impl clap::Args for Args {
            fn augment_args($command: clap::Command) -> clap::Command {
                $defined
            }
            fn augment_args_for_update(command: clap::Command) -> clap::Command {
                <Args as clap::Args>::augment_args(command)
            }
        }

        impl clap::FromArgMatches for Args {
            fn from_arg_matches(matches: &clap::ArgMatches) -> Result<Args, clap::Error> {
                <Args as clap::FromArgMatches>::from_arg_matches_mut(&mut matches.clone())
            }
            fn from_arg_matches_mut($matches: &mut clap::ArgMatches) -> Result<Args, clap::Error> {
                Ok(Args($invocation))
            }
            fn update_from_arg_matches(&mut self, matches: &clap::ArgMatches) -> Result<(), clap::Error> {
                *self = <Args as clap::FromArgMatches>::from_arg_matches(matches)?;
                Ok(())
            }
        }

        impl Args {
            pub fn run(self, context: &mut crate::context::Context) -> crate::exit::Outcome {
                self.0.run(context)
            }
        }

        pub(in crate::command) fn printed() -> Vec<crate::command::printed::Printed> {
            $printed
        }
    };
}

/// A row for a command whose arguments have their own type `A`.
pub struct Own<A> {
    printed: Printed,
    about: &'static str,
    run: fn(A, &mut Context) -> Outcome,
}

/// Makes a row for a command whose arguments have their own type. Help texts come from that type.
pub const fn own<A: clap::Args>(
    printed: Printed,
    about: &'static str,
    run: fn(A, &mut Context) -> Outcome,
) -> Own<A> {
    Own {
        printed,
        about,
        run,
    }
}

impl<A: clap::Args> Subcommand for Own<A> {
    fn name(&self) -> &'static str {
        self.printed.action
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn printed(&self) -> Printed {
        self.printed
    }

    fn define(&self, command: clap::Command) -> clap::Command {
        A::augment_args(command)
    }

    fn run(&self, mut matches: ArgMatches, context: &mut Context) -> Outcome {
        (self.run)(parsed(&mut matches)?, context)
    }
}

/// An empty set of options, for a command that adds nothing to the operation's input.
#[derive(Debug, clap::Args)]
#[group(skip)]
pub struct NoOptions {}

// The option for whole texts. Not a doc comment, because clap would print it in the help of each command.
#[derive(Debug, clap::Args)]
#[group(skip)]
pub struct WholeTexts {
    /// Show whole texts
    #[arg(long)]
    full: bool,
}

impl WholeTexts {
    /// Applies the option to the output.
    pub fn apply<O>(
        _: &mut O,
        options: WholeTexts,
        context: &mut Context,
    ) -> Result<(), CommandError> {
        context.show_whole(options.full);
        Ok(())
    }
}

/// A function that returns further lines to print below an answer.
type Below<D> = fn(&D, &str, &mut Context) -> Result<Vec<String>, CommandError>;

/// A row for operation `O` with additional options `X`.
pub struct OfOperation<O: Op, X = NoOptions> {
    name: &'static str,
    show: fn(&O::Data, &View) -> Vec<String>,
    about: &'static str,
    details: &'static str,
    examples: &'static str,
    agent: Option<(&'static str, AgentField<O>)>,
    claim: Option<fn(&mut O) -> ClaimFields<'_>>,
    is_claim_optional: bool,
    arguments: fn(clap::Command) -> clap::Command,
    below: Below<O::Data>,
    adjust: fn(&mut O, X, &mut Context) -> Result<(), CommandError>,
    own_commands: fn(&mut O::Data, &Context),
    exit: fn(&O::Data) -> Exit,
    takes_past: bool,
    takes_key: bool,
}

/// The field of an input for the acting agent. The field gets its value from the context if the command line has none.
enum AgentField<O> {
    Required(fn(&mut O) -> &mut String),
    Optional(fn(&mut O) -> &mut Option<String>),
}

/// References to the fields of an input that presents a claim.
pub struct ClaimFields<'a> {
    pub task_id: &'a str,
    pub worker: Option<String>,
    pub epoch: &'a mut Option<u64>,
    /// True if the input has a token or an epoch, or acts by force.
    pub is_given: bool,
}

impl ClaimFields<'_> {
    /// If the input presents no claim, sets the epoch of the claim that the acting agent made in this session.
    fn fill(self, team: &str, context: &mut Context) -> Result<(), CommandError> {
        if !self.is_given {
            *self.epoch = Some(context.own_epoch(team, self.task_id, self.worker)?);
        }
        Ok(())
    }
}

/// Returns references to the fields of an input that presents a claim.
macro_rules! claim_fields {
    ($input:ident, $worker:expr) => {
        $crate::command::subcommand::ClaimFields {
            is_given: $input.claim_token.is_some() || $input.epoch.is_some() || $input.force,
            worker: $worker,
            task_id: &$input.task_id,
            epoch: &mut $input.epoch,
        }
    };
}

/// Makes a row for operation `O`. If the operation records events, the command also accepts `--key` and `--trace-id`.
pub const fn operation<O: Op>(
    name: &'static str,
    show: fn(&O::Data, &View) -> Vec<String>,
) -> OfOperation<O> {
    OfOperation {
        name,
        show,
        about: O::DOC,
        details: "",
        examples: "",
        agent: None,
        claim: None,
        is_claim_optional: false,
        arguments: |command| command,
        below: |_, _, _| Ok(Vec::new()),
        adjust: |_, _, _| Ok(()),
        own_commands: |_, _| {},
        exit: |_| Exit::Done,
        takes_past: false,
        takes_key: matches!(O::EFFECT, Effect::Records),
    }
}

impl<O: Op, X> OfOperation<O, X> {
    /// Replaces the one-line description, which is otherwise the description of the operation.
    pub const fn about(self, about: &'static str) -> Self {
        OfOperation { about, ..self }
    }

    /// Adds paragraphs to the long help.
    pub const fn details(self, details: &'static str) -> Self {
        OfOperation { details, ..self }
    }

    /// Sets the examples. The caller indents every line except the first.
    pub const fn examples(self, examples: &'static str) -> Self {
        OfOperation { examples, ..self }
    }

    /// Fills a required field with the acting agent if `option` is absent.
    pub const fn agent(self, option: &'static str, field: fn(&mut O) -> &mut String) -> Self {
        let agent = Some((option, AgentField::Required(field)));
        OfOperation { agent, ..self }
    }

    /// Fills an optional field with the acting agent if `option` is absent and the acting agent is known.
    pub const fn agent_if_known(
        self,
        option: &'static str,
        field: fn(&mut O) -> &mut Option<String>,
    ) -> Self {
        let agent = Some((option, AgentField::Optional(field)));
        OfOperation { agent, ..self }
    }

    /// If argv has neither a token nor an epoch, presents the live claim of this session. The claim is searched before
    /// the command reads standard input or files.
    pub const fn own_claim(self, claim: fn(&mut O) -> ClaimFields<'_>) -> Self {
        OfOperation {
            claim: Some(claim),
            ..self
        }
    }

    /// If argv has neither a token nor an epoch, presents the live claim of this session, if there is one.
    pub const fn claim_if_own(self, claim: fn(&mut O) -> ClaimFields<'_>) -> Self {
        OfOperation {
            is_claim_optional: true,
            ..self.own_claim(claim)
        }
    }

    /// Changes the arguments of the input, for example an option into a positional argument.
    pub const fn define(self, arguments: fn(clap::Command) -> clap::Command) -> Self {
        OfOperation { arguments, ..self }
    }

    /// Adds lines for people below the answer. If the lines cannot be read, they are left out, because the command succeeded.
    pub const fn below(self, below: Below<O::Data>) -> Self {
        OfOperation { below, ..self }
    }

    /// Adds `--at`, which answers for a point in the past.
    pub const fn at(self) -> Self {
        OfOperation {
            takes_past: true,
            ..self
        }
    }

    /// Omits `--key` and `--trace-id`, because repeating the operation changes nothing.
    pub const fn repeatable(self) -> Self {
        OfOperation {
            takes_key: false,
            ..self
        }
    }

    /// Sets a function that adjusts the commands in an answer to the program name and options of the user.
    pub const fn own_commands(self, own_commands: fn(&mut O::Data, &Context)) -> Self {
        OfOperation {
            own_commands,
            ..self
        }
    }

    /// Sets a function that computes the exit code from the answer.
    pub const fn exit(self, exit: fn(&O::Data) -> Exit) -> Self {
        OfOperation { exit, ..self }
    }

    /// Adds options of type `Y`, and a function that completes the input from these options.
    pub const fn with<Y>(
        self,
        adjust: fn(&mut O, Y, &mut Context) -> Result<(), CommandError>,
    ) -> OfOperation<O, Y> {
        OfOperation {
            name: self.name,
            show: self.show,
            about: self.about,
            details: self.details,
            examples: self.examples,
            agent: self.agent,
            claim: self.claim,
            is_claim_optional: self.is_claim_optional,
            arguments: self.arguments,
            below: self.below,
            adjust,
            own_commands: self.own_commands,
            exit: self.exit,
            takes_past: self.takes_past,
            takes_key: self.takes_key,
        }
    }
}

impl<O, X> Subcommand for OfOperation<O, X>
where
    O: Op + clap::Args + Serialize + Clone,
    O::Data: DeserializeOwned,
    X: clap::Args,
{
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn printed(&self) -> Printed {
        of::<O>(self.name)
    }

    fn define(&self, command: clap::Command) -> clap::Command {
        // Keep the description, because the arguments of the input would replace it.
        let about = command.get_about().cloned().unwrap_or_default();
        let team = Arg::new("team").required(true).value_name("TEAM");
        let mut command = X::augment_args(O::augment_args(command.arg(team.help("The team"))));
        if self.takes_past {
            command = Past::augment_args(command);
        }
        if self.takes_key {
            command = Stamp::augment_args(command);
        }
        if let Some((option, field)) = &self.agent {
            command = command.mut_arg(option, |arg| field.describe(arg));
        }
        let long =
            (!self.details.is_empty()).then(|| format!("{about}\n\n{}", self.details).into());
        (self.arguments)(command)
            .about(about)
            .long_about(Resettable::from(long))
            .after_help(format!("Examples:\n  {}", self.examples))
    }

    fn run(&self, mut matches: ArgMatches, context: &mut Context) -> Outcome {
        let matches = &mut matches;
        let team: String = matches.remove_one("team").unwrap_or_default();
        let agent = self.agent.as_ref().map(|(option, field)| {
            let is_named = matches.value_source(option) == Some(ValueSource::CommandLine);
            (*option, field, is_named)
        });
        let mut input = parsed::<O>(matches)?;
        if let Some((option, field, is_named)) = agent {
            field.fill(&mut input, option, is_named, context)?;
        }
        if let Some(claim) = self.claim {
            match claim(&mut input).fill(&team, context) {
                Err(error) if !self.is_claim_optional || error.code() == "claim_changed" => {
                    return Err(error);
                }
                _ => {}
            }
        }
        (self.adjust)(&mut input, parsed(matches)?, context)?;
        let mut answer = match (O::EFFECT, self.takes_key) {
            (Effect::Reads | Effect::Waits, _) => {
                let at = self.takes_past.then(|| parsed::<Past>(matches));
                let at = at.transpose()?.and_then(Option::from);
                context.read_at(&team, at, input)?
            }
            (Effect::Records, true) => {
                let stamp = parsed::<Stamp>(matches)?;
                stamp.execute(context, &Call::operation(), &team, input)?
            }
            (Effect::Records, false) => {
                context.records(Repeat::Same);
                context.execute(&Call::operation(), &team, input)?
            }
        };
        (self.own_commands)(&mut answer, context);
        let below = match context.out.is_json() {
            true => Vec::new(),
            false => (self.below)(&answer, &team, context).unwrap_or_default(),
        };
        let show = |answer: &O::Data, view: &View| {
            let mut lines = (self.show)(answer, view);
            lines.extend(below);
            lines
        };
        context.end((self.exit)(&answer), &answer, show)
    }
}

impl<O> AgentField<O> {
    fn describe(&self, arg: Arg) -> Arg {
        let help = arg.get_help().cloned().unwrap_or_default();
        match self {
            AgentField::Required(_) => arg
                .required(false)
                .default_value(ACTING)
                .hide_default_value(true)
                .help(format!("{help} [default: {ACTING}]")),
            AgentField::Optional(_) => arg.help(format!("{help} [default: {ACTING}, if known]")),
        }
    }

    fn fill(
        &self,
        input: &mut O,
        option: &str,
        is_named: bool,
        context: &Context,
    ) -> Result<(), CommandError> {
        match self {
            AgentField::Required(field) => {
                let agent = field(input);
                let named = is_named.then(|| std::mem::take(agent));
                *agent = context.agent(&format!("--{option}"), named)?;
            }
            AgentField::Optional(field) => {
                let agent = field(input);
                if agent.is_none() {
                    *agent = context.actor();
                }
            }
        }
        Ok(())
    }
}

/// Builds arguments from the matches that clap accepted, and removes them from the matches.
fn parsed<A: FromArgMatches>(matches: &mut ArgMatches) -> Result<A, CommandError> {
    A::from_arg_matches_mut(matches)
        .map_err(|error| CommandError::of_clap(&error, "--help", |_| false))
}
