//! Anchors of file systems: the directories, and the control files in them.

use std::fs;

use candor_front::Diagnostic;
use candor_plan::PathText;
use candor_vdbench::lower::LoweredRun;
use candor_vdbench::lower::files::Anchor;
use candor_vdbench::lower::files::control::NAME;
use candor_vdbench::output::Now;

/// Makes anchors that are missing, where that is asked for.
pub fn prepare(runs: &[LoweredRun], creates: bool) -> Result<(), Box<Diagnostic>> {
    for anchor in runs.iter().flat_map(anchors_of).filter(|anchor| !anchor.path.is_dir()) {
        let shown = anchor.path.text();
        let wrong = |message: String| {
            let at = anchor.at;
            Box::new(Diagnostic { at, ..Diagnostic::nowhere("anchor", message) })
        };
        if !creates {
            let missing = wrong(format!("the anchor {shown} is no directory"));
            return Err(missing.remedy("make it, or add create_anchors=yes").into());
        }
        fs::create_dir_all(&anchor.path)
            .map_err(|error| wrong(format!("the anchor {shown} cannot be made: {error}")))?;
    }
    Ok(())
}

/// Writes the control files of a run that begins; sentences about those that cannot be written.
pub fn begin(run: &LoweredRun, now: &Now) -> Vec<String> {
    anchors_of(run)
        .filter_map(|anchor| {
            let path = anchor.path.join(NAME);
            let written = candor_files::replace(&path, anchor.control.as_ref()?.text(&now.created));
            written.err().map(|error| format!("{} cannot be written: {error}", path.text()))
        })
        .collect()
}

/// Removes the control files of trees that a run has removed.
pub fn end(run: &LoweredRun) {
    for anchor in anchors_of(run).filter(|anchor| anchor.control.is_none()) {
        // One that was not there need not go.
        let _ = fs::remove_file(anchor.path.join(NAME));
    }
}

fn anchors_of(run: &LoweredRun) -> impl Iterator<Item = &Anchor> {
    run.files.iter().flat_map(|files| &files.anchors)
}

#[cfg(test)]
mod tests {
    use candor_vdbench::lower::files::FilesOfRun;
    use candor_vdbench::lower::files::control::Control;

    use super::*;

    #[test]
    fn a_control_file_comes_and_goes_with_the_tree() {
        let directory = tempfile::tempdir().expect("a directory");
        let anchor = directory.path().join("a/b");
        let of = |control| {
            let anchor = Anchor { path: anchor.clone(), at: None, control };
            let files = FilesOfRun { anchors: vec![anchor], ..FilesOfRun::default() };
            LoweredRun { files: Some(files), ..LoweredRun::default() }
        };
        let run = of(Some(Control::default()));
        let missing = prepare(std::slice::from_ref(&run), false).expect_err("missing");
        assert!(missing.remedy.contains("create_anchors=yes"), "{missing:?}");
        assert_eq!(prepare(std::slice::from_ref(&run), true), Ok(()));
        assert_eq!(begin(&run, &Now::default()), Vec::<String>::new());
        assert!(anchor.join(NAME).exists());
        end(&run);
        assert!(anchor.join(NAME).exists(), "the tree is left");
        end(&of(None));
        assert!(!anchor.join(NAME).exists());
    }
}
