//! Runs a command while the kernel restricts the command's writes to the paths of its agent. [`grounds`] computes the
//! writable paths, [`rules`] makes the kernel's rules from them, [`fenced`] runs the process, and [`family`] finds
//! the descendants of the process.

mod family;
pub mod fenced;
pub mod grounds;
pub mod rules;

/// Variable that is set for a fenced command, so that a `teamlog` inside can explain why the data root is read-only.
pub const VARIABLE: &str = "TEAMLOG_GUARD_EXEC";
