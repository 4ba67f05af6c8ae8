//! Targets.

use candor_plan::{Layout, path_of};

use crate::commands::bucket::Url;
use crate::commands::run::draft::Draft;
use crate::flag::{Flag, Takes, put, put_some};
use crate::parse::{number, one_of, percent, unit};

/// Targets.
pub const FLAGS: &[Flag<Draft>] = &[
    Flag {
        long: "target",
        takes: Takes::Many("PATH"),
        help: "File, directory, device or bucket (s3 URL) to work on; may be given several times",
        fields: &["target[].path", "bucket[].bucket"],
        set: |draft, text| {
            match Url::read(text) {
                Some(url) => draft.s3.urls.push(url?),
                None => draft.paths.push(path_of(text)),
            }
            Ok(())
        },
    },
    Flag {
        long: "size",
        takes: Takes::One("SIZE"),
        help: "Bytes of each file or device, or 90% of it or free space; of buckets, per object \
               [default: all, 1m]",
        fields: &["target[0].size", "target[0].size_percent", "bucket[0].keys.tree.file_size"],
        set: |draft, text| {
            if draft.is_s3() {
                put_some(&mut draft.s3.size, unit(text))
            } else if text.ends_with('%') {
                put_some(&mut draft.target.size_percent, percent(text))
            } else {
                put_some(&mut draft.target.size, unit(text))
            }
        },
    },
    Flag {
        long: "files",
        takes: Takes::One("N"),
        help: "Number of files in a directory, which is made if it is not there [default: 1]",
        fields: &["target[0].files"],
        set: |draft, text| put(&mut draft.target.files, number(text)),
    },
    Flag {
        long: "per-target",
        takes: Takes::Nothing,
        help: "Count each target apart too: each file, where there is one target",
        fields: &["phase[0].job[0].work.blocks.measure.per_target"],
        set: |draft, _| put(&mut draft.blocks.measure.per_target, Ok(true)),
    },
    Flag {
        long: "layout",
        takes: Takes::One("needed|write|allocate|sparse|never"),
        help: "How missing bytes of a file come into being [default: needed]",
        fields: &["target[0].layout"],
        set: |draft, text| {
            let words = [
                ("needed", Layout::Needed),
                ("write", Layout::Write),
                ("allocate", Layout::Allocate),
                ("sparse", Layout::Sparse),
                ("never", Layout::Never),
            ];
            put(&mut draft.target.layout, one_of(text, &words))
        },
    },
    Flag {
        long: "keep",
        takes: Takes::Nothing,
        help: "Keep the files or objects that candor makes",
        fields: &["target[0].keep", "bucket[0].keep"],
        set: |draft, _| put(&mut draft.target.keep, Ok(true)),
    },
    Flag {
        long: "overwrite",
        takes: Takes::Nothing,
        help: "Consent to destroy what is on the target: a device, or files or objects candor \
               did not make",
        fields: &["target[0].overwrite", "bucket[0].overwrite"],
        set: |draft, _| put(&mut draft.target.overwrite, Ok(true)),
    },
    Flag {
        long: "name",
        takes: Takes::One("NAME"),
        help: "Name of the run in the report [default: derived from the job]",
        fields: &["phase[0].name"],
        set: |draft, text| put_some(&mut draft.name, Ok(text.to_owned())),
    },
];
