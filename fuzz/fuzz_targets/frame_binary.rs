#![cfg_attr(fuzzing, no_main)]
//! See [`teamlog_fuzz::frame_binary`].

teamlog_fuzz::target!(frame_binary);
