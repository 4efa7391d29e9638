#![cfg_attr(fuzzing, no_main)]
//! See [`teamlog_fuzz::json`].

teamlog_fuzz::target!(json);
