#![cfg_attr(fuzzing, no_main)]
//! See [`teamlog_fuzz::public`].

teamlog_fuzz::target!(public);
