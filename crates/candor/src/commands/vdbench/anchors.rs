//! Anchors of file systems: the directories, and the control files in them.

use std::fs;

use candor_dialects::vdbench::lower::LoweredRun;
use candor_dialects::vdbench::lower::files::control::NAME;
use candor_dialects::vdbench::output::Now;

/// Makes anchors that are missing, where that is asked for. The error is a sentence.
pub fn prepare(runs: &[LoweredRun], creates: bool) -> Result<(), String> {
    let anchors = runs.iter().filter_map(|run| run.files.as_ref()).flat_map(|files| &files.anchors);
    for (anchor, _) in anchors {
        let shown = anchor.display();
        match anchor.is_dir() {
            true => {}
            false if creates => fs::create_dir_all(anchor)
                .map_err(|error| format!("the anchor {shown} cannot be made: {error}"))?,
            false => {
                return Err(format!(
                    "the anchor {shown} is no directory; make it, or add create_anchors=yes"
                ));
            }
        }
    }
    Ok(())
}

/// Writes the control files of a run that begins; sentences about those that cannot be written.
pub fn begin(run: &LoweredRun, now: &Now) -> Vec<String> {
    let anchors = run.files.iter().flat_map(|files| &files.anchors);
    let write = |(anchor, control): &(std::path::PathBuf, Option<_>)| {
        let control: &candor_dialects::vdbench::lower::files::control::Control =
            control.as_ref()?;
        let path = anchor.join(NAME);
        let written = fs::write(&path, control.text(&now.created));
        written.err().map(|error| format!("{} cannot be written: {error}", path.display()))
    };
    anchors.filter_map(write).collect()
}

/// Removes the control files of trees that a run has removed.
pub fn end(run: &LoweredRun) {
    let anchors = run.files.iter().flat_map(|files| &files.anchors);
    for (anchor, _) in anchors.filter(|(_, control)| control.is_none()) {
        // One that was not there need not go.
        let _ = fs::remove_file(anchor.join(NAME));
    }
}

#[cfg(test)]
mod tests {
    use candor_dialects::vdbench::lower::files::FilesOfRun;
    use candor_dialects::vdbench::lower::files::control::Control;

    use super::*;

    #[test]
    fn a_control_file_comes_and_goes_with_the_tree() {
        let directory = tempfile::tempdir().expect("a directory");
        let anchor = directory.path().join("a/b");
        let of = |control| {
            let files =
                FilesOfRun { anchors: vec![(anchor.clone(), control)], ..FilesOfRun::default() };
            LoweredRun { files: Some(files), ..LoweredRun::default() }
        };
        let run = of(Some(Control::default()));
        let missing = prepare(std::slice::from_ref(&run), false).expect_err("missing");
        assert!(missing.contains("create_anchors=yes"), "{missing}");
        assert_eq!(prepare(std::slice::from_ref(&run), true), Ok(()));
        assert_eq!(begin(&run, &Now::default()), Vec::<String>::new());
        assert!(anchor.join(NAME).exists());
        end(&run);
        assert!(anchor.join(NAME).exists(), "the tree is left");
        end(&of(None));
        assert!(!anchor.join(NAME).exists());
    }
}
