//! Files of a target: lists and names.

use super::*;

#[test]
fn errors_in_lists() {
    #[rustfmt::skip]
    let cases = [
        ("listing", "target[0].listing",
         "[[target]]\npath = \"/x\"\nkind = \"tree\"\ntree = {}\nlisting.file = \"l\""),
        ("listing", "target[0].listing",
         "[[target]]\npath = \"/x\"\nkind = \"file\"\nlisting.file = \"l\""),
        ("listing", "target[0].listing",
         "[[target]]\npath = \"/x\"\nkind = \"tree\"\nlisting = {}"),
        ("listing", "target[0].listing.file",
         "[[target]]\npath = \"/x\"\nkind = \"tree\"\nlisting.file = \"\""),
        ("listing", "target[0].listing.round_up",
         "[[target]]\npath = \"/x\"\nkind = \"tree\"\ncreate = \"nothing\"\n\
          listing.round_up = \"4k\""),
        ("listing", "target[0].listing.round_up",
         "[[target]]\npath = \"/x\"\nkind = \"tree\"\n\
          listing = { file = \"l\", round_up = \"9000p\" }"),
        ("listing", "phase[0].job[0].targets[0]",
         "[[target]]\npath = \"/x\"\nkind = \"tree\"\n\
          listing = { file = \"l\", share_above = \"1m\" }\n[[phase]]\n[[phase.job]]\n\
          targets = [\"target\"]\n\
          work.entries.steps = [\"open\", \"read\", \"close\", \"unlink\"]"),
        ("listing", "phase[0].job[0].targets[0]",
         "[[target]]\npath = \"/x\"\nkind = \"tree\"\n\
          listing = { file = \"l\", share_above = \"1m\" }\n[[phase]]\n[[phase.job]]\n\
          targets = [\"target\"]\nwork.entries = { truncate_at_open = true, \
          steps = [\"create\", \"write\", \"close\"] }"),
        ("listing", "phase[0].job[0].targets[0]",
         "[[target]]\npath = \"/x\"\nkind = \"tree\"\nlisting.file = \"l\"\n\
          [[target]]\nname = \"b\"\npath = \"/y\"\nkind = \"tree\"\nlisting.file = \"l\"\n\
          [[phase]]\n[[phase.job]]\ntargets = [\"target\", \"b\"]\n\
          work.entries.steps = [\"stat\"]"),
    ];
    errors_in(&cases);
}

#[test]
fn errors_in_files_of_targets() {
    #[rustfmt::skip]
    let cases = [
        ("files", "target[0].files", "[[target]]\npath = \"/x\"\nfiles = 0"),
        ("files", "target[0].files", "[[target]]\npath = \"/x\"\nfiles = 2\nkind = \"device\""),
        ("files", "target[0].files", "[[target]]\nfiles = 2\nkind = \"existing\""),
        ("files", "target[0].files", "[[target]]\npath = \"/x\"\nfiles = 2000000000"),
        ("file-name", "target[0].file_name",
         "[[target]]\npath = \"/x\"\nfile_name = \"a{number}\""),
        ("file-name", "target[0].file_name",
         "[[target]]\nkind = \"file_set\"\nfile_name = \"a{number}\"\n\
          members = [{ name = \"a\" }]"),
        ("file-name", "target[0].file_name",
         "[[target]]\nkind = \"file_set\"\nfile_name = \"../a{number}\""),
        ("file-name", "target[0].file_name",
         "[[target]]\nkind = \"file_set\"\nfiles = 2\nfile_name = \"a\""),
        ("first-file", "target[0].first_file", "[[target]]\npath = \"/x\"\nfirst_file = 2"),
        ("members", "target[0].members", "[[target]]\nmembers = [{ name = \"a\" }]"),
        ("members", "target[0].members",
         "[[target]]\nkind = \"file_set\"\nfiles = 2\nmembers = [{ name = \"a\" }]"),
        ("member-name", "target[0].members[0].name", "[[target]]\nmembers = [{ name = \"/a\" }]"),
        ("member-name", "target[0].members[1].name",
         "[[target]]\nkind = \"file_set\"\nmembers = [{ name = \"a\" }, { name = \"a\" }]"),
        ("target-size", "target[0].members[0].size",
         "[[target]]\nmembers = [{ name = \"a\", size = 0 }]"),
        ("files", "phase[0].job[0].targets[0]",
         "[[target]]\npath = \"/x\"\nfiles = 2000000\n[[phase]]\n[[phase.job]]\n\
          targets = [\"target\"]\nwork.blocks = {}"),
        ("files", "phase[0].job[0].targets",
         "[[target]]\npath = \"/x\"\nfiles = 1000000000\n[[phase]]\n[[phase.job]]\n\
          targets = [\"target\", \"target\", \"target\", \"target\", \"target\"]\nwork.entries = {}"),
    ];
    errors_in(&cases);
}
