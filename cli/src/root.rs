//! Where the data lies: the flag, else the environment, else the nearest ancestor holding `teams/`, else here.

use crate::env::ProcessEnv;
use crate::global::Global;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

pub fn of(global: &Global, env: &ProcessEnv) -> io::Result<PathBuf> {
    let variable = env.var("TEAMLOG_DATA_ROOT");
    find(global.data_root.as_deref(), variable, || env.here())
}

/// The data root. An empty variable counts as none; `here` is asked for only when it matters.
pub fn find(
    flag: Option<&Path>,
    variable: Option<OsString>,
    here: impl FnOnce() -> io::Result<PathBuf>,
) -> io::Result<PathBuf> {
    if let Some(flag) = flag {
        return Ok(flag.to_owned());
    }
    if let Some(variable) = variable.filter(|value| !value.is_empty()) {
        return Ok(PathBuf::from(variable));
    }
    let here = here()?;
    let holder = here.ancestors().find(|dir| dir.join("teams").is_dir());
    Ok(holder.unwrap_or(&here).to_owned())
}

#[cfg(test)]
mod tests {
    use super::find;
    use std::path::Path;

    #[test]
    fn flag_then_variable_then_ancestor_then_here() {
        let top = tempfile::tempdir().unwrap();
        let below = top.path().join("a/b");
        std::fs::create_dir_all(&below).unwrap();
        let variable = || Some("/var/of".into());
        let found = |flag: Option<&str>, variable| {
            find(flag.map(Path::new), variable, || Ok(below.clone())).unwrap()
        };
        assert_eq!(found(Some("/flag"), variable()), Path::new("/flag"));
        assert_eq!(found(None, variable()), Path::new("/var/of"));
        assert_eq!(found(None, Some("".into())), below);
        std::fs::create_dir(top.path().join("teams")).unwrap();
        assert_eq!(found(None, None), top.path());
        std::fs::create_dir(below.join("teams")).unwrap();
        assert_eq!(found(None, None), below);
    }
}
