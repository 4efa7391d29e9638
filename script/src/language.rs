//! The engine of the language: its functions and its limits.

use crate::limits;
use rhai::packages::{
    ArithmeticPackage, BasicArrayPackage, BasicFnPackage, BasicIteratorPackage, BasicMapPackage,
    BasicStringPackage, LogicPackage, MoreStringPackage, Package,
};
use rhai::{Dynamic, Engine, EvalAltResult, INT, OptimizationLevel};
use std::sync::LazyLock;

/// Keywords and operators that scripts do not have.
///
/// `eval` would hide the fields that a script reads. `**` of floats is not the same on every machine. `print` and `debug` have no
/// output.
const DISABLED: [&str; 5] = ["eval", "print", "debug", "**", "**="];

/// The engine that compiles and runs every script.
pub(crate) static ENGINE: LazyLock<Engine> = LazyLock::new(engine);

fn engine() -> Engine {
    let mut engine = Engine::new_raw();
    ArithmeticPackage::new().register_into_engine(&mut engine);
    BasicStringPackage::new().register_into_engine(&mut engine);
    BasicIteratorPackage::new().register_into_engine(&mut engine);
    BasicFnPackage::new().register_into_engine(&mut engine);
    LogicPackage::new().register_into_engine(&mut engine);
    BasicArrayPackage::new().register_into_engine(&mut engine);
    BasicMapPackage::new().register_into_engine(&mut engine);
    MoreStringPackage::new().register_into_engine(&mut engine);
    numbers(&mut engine);
    // The letters with two cases depend on the version of Unicode.
    engine.register_fn("to_upper", |text: &str| text.to_ascii_uppercase());
    engine.register_fn("to_lower", |text: &str| text.to_ascii_lowercase());
    for word in DISABLED {
        engine.disable_symbol(word);
    }
    set_limits(&mut engine);
    engine
}

fn set_limits(engine: &mut Engine) {
    engine
        .set_optimization_level(OptimizationLevel::None)
        .set_max_operations(limits::OPERATIONS_MAX)
        .set_max_call_levels(limits::CALL_DEPTH_MAX)
        .set_max_expr_depths(limits::EXPRESSION_DEPTH_MAX, limits::EXPRESSION_DEPTH_MAX)
        .set_max_functions(limits::FUNCTIONS_MAX)
        .set_max_variables(limits::VARIABLES_MAX)
        .set_max_string_size(limits::TEXT_BYTES_MAX)
        .set_max_array_size(limits::ARRAY_ITEMS_MAX)
        .set_max_map_size(limits::MAP_ENTRIES_MAX)
        .set_strict_variables(true)
        .set_fail_on_invalid_map_property(false);
}

/// Registers the functions of numbers whose results IEEE 754 fixes.
fn numbers(engine: &mut Engine) {
    engine.register_fn("floor", f64::floor);
    engine.register_fn("ceiling", f64::ceil);
    engine.register_fn("round", f64::round);
    engine.register_fn("sqrt", f64::sqrt);
    engine.register_fn("is_nan", f64::is_nan);
    engine.register_fn("to_float", |number: INT| number as f64);
    engine.register_fn("to_float", |number: f64| number);
    engine.register_fn("to_int", |number: INT| number);
    engine.register_fn("to_int", whole);
    engine.register_fn("min", |one: INT, other: INT| one.min(other));
    engine.register_fn("max", |one: INT, other: INT| one.max(other));
    engine.register_fn("min", f64::min);
    engine.register_fn("max", f64::max);
    engine.register_fn("parse_int", |text: &str| {
        text.parse::<INT>().map_or(Dynamic::UNIT, Dynamic::from_int)
    });
    engine.register_fn("parse_float", |text: &str| {
        text.parse::<f64>()
            .map_or(Dynamic::UNIT, Dynamic::from_float)
    });
}

/// Converts a float to an integer, towards zero.
fn whole(number: f64) -> Result<INT, Box<EvalAltResult>> {
    // The bounds are floats: 2^63 is the first number that is too large.
    const BOUND: f64 = 9_223_372_036_854_775_808.0;
    if (-BOUND..BOUND).contains(&number) {
        return Ok(number as INT);
    }
    Err(format!("to_int: {number} is no 64-bit integer").into())
}
