//! Finds the files in a patch of the form that `apply_patch` uses.

/// Returns the files that a patch adds, updates, deletes or moves to; `None` if the text is no such patch.
///
/// ```
/// let text = "*** Begin Patch\n*** Update File: a.rs\n*** Move to: b.rs\n@@\n-x\n+y\n*** End Patch";
/// assert_eq!(teamlog_guard::patched_files(text).unwrap(), ["a.rs", "b.rs"]);
/// ```
pub fn files(text: &str) -> Option<Vec<String>> {
    const HEADS: [&str; 4] = [
        "*** Add File: ",
        "*** Update File: ",
        "*** Delete File: ",
        "*** Move to: ",
    ];
    let mut begun = false;
    let mut files = Vec::new();
    for line in text.lines() {
        // A header may be indented. Lines of content begin with `+`, `-` or a space.
        let line = line.trim();
        if line == "*** Begin Patch" {
            begun = true;
        } else if let Some(file) = HEADS.iter().find_map(|head| line.strip_prefix(head)) {
            files.push(file.trim().to_owned());
        }
    }
    (begun && !files.is_empty() && files.iter().all(|file| !file.is_empty())).then_some(files)
}
