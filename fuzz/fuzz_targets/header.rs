#![cfg_attr(fuzzing, no_main)]
//! See [`teamlog_fuzz::header`].

teamlog_fuzz::target!(header);
