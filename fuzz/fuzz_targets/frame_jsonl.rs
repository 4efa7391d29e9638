#![cfg_attr(fuzzing, no_main)]
//! See [`teamlog_fuzz::frame_jsonl`].

teamlog_fuzz::target!(frame_jsonl);
