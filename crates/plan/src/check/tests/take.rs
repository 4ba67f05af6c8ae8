//! Items that are taken by their state, and what else only they have.

use super::are_among;

#[test]
fn errors_in_items_taken_by_their_state() {
    #[rustfmt::skip]
    let cases = [
        ("take-tree", "phase[0].job[0].work.entries.take",
         "[[phase]]\n[[phase.job]]\n\
          work.entries = { over = \"target_files\", steps = [\"stat\"], take = {} }"),
        ("take-mix", "phase[0].job[0].work.entries.take",
         "[[phase]]\n[[phase.job]]\n\
          work.entries = { mix = [{ weight = 1, steps = [\"stat\"] }], take = {} }"),
        ("take-depth", "phase[0].job[0].work.entries.take",
         "[[phase]]\n[[phase.job]]\nwork.entries = { steps = [\"stat\"], depth = 2, take = {} }"),
        ("take-parts", "phase[0].job[0].work.entries.take.parts[0]",
         "[[phase]]\n[[phase.job]]\n\
          work.entries = { steps = [\"stat\"], take.parts = [0] }"),
        ("take-to", "phase[0].job[0].work.entries.take.to",
         "[[phase]]\n[[phase.job]]\n\
          work.entries = { steps = [\"stat\"], take.to = \"b\" }"),
        ("take-to", "phase[0].job[0].work.entries.take.to",
         "[[phase]]\n[[phase.job]]\nwork.entries = { steps = [\"copy\"], take = {} }"),
        ("take-to", "phase[0].job[0].work.entries.steps[0]",
         "[[phase]]\n[[phase.job]]\nwork.entries = { steps = [\"copy\"] }"),
        ("take-to", "phase[0].job[0].targets[0]",
         "[[target]]\nname = \"a\"\npath = \"/a\"\nkind = \"tree\"\ntree = {}\n\
          [[target]]\nname = \"b\"\npath = \"/b\"\nkind = \"tree\"\ntree.items = 2\n\
          [[phase]]\n[[phase.job]]\ntargets = [\"a\"]\n\
          work.entries = { steps = [\"rename\"], take.to = \"b\" }"),
        ("take-tree", "phase[0].job[0].targets[0]",
         "[[target]]\nname = \"a\"\npath = \"/a\"\nkind = \"tree\"\ntree.per_rank = true\n\
          [[phase]]\n[[phase.job]]\ntargets = [\"a\"]\n\
          work.entries = { steps = [\"stat\"], take = {} }"),
        ("visit", "phase[0].job[0].work.entries.visit",
         "[[phase]]\n[[phase.job]]\nwork.entries = { steps = [\"open\", \"read\", \"close\"], \
          take = {}, visit = { operations = 0 } }"),
        ("visit-take", "phase[0].job[0].work.entries.visit",
         "[[phase]]\n[[phase.job]]\nwork.entries = { steps = [\"open\", \"read\", \"close\"], \
          visit = { percent = 50 } }"),
        ("visit-access", "phase[0].job[0].work.entries.visit",
         "[[phase]]\n[[phase.job]]\nwork.entries = { steps = [\"open\", \"read\", \"close\"], \
          take = {}, access = \"backward\", visit = { percent = 50 } }"),
        ("size-mix", "phase[0].job[0].work.entries.size_mix",
         "[[phase]]\n[[phase.job]]\nwork.entries = { steps = [\"open\", \"read\", \"close\"], \
          size = 4096, size_mix = \"4k:50,8k:50\" }"),
        ("size-mix", "phase[0].job[0].work.entries.size_mix",
         "[[phase]]\n[[phase.job]]\nwork.entries = { steps = [\"open\", \"read\", \"close\"], \
          take = {}, size_mix = \"6k:50,8k:50\", verify = { generations = true } }"),
        ("verify-generations", "phase[0].job[0].work.entries.verify.generations",
         "[[phase]]\n[[phase.job]]\nwork.entries = { steps = [\"open\", \"read\", \"close\"], \
          verify = { generations = true } }"),
        ("verify-generations", "phase[0].job[0].work.entries.verify.generations",
         "[[phase]]\n[[phase.job]]\nwork.entries = { steps = [\"open\", \"write\", \"close\"], \
          take = { concurrent = true }, verify = { generations = true } }"),
        ("verify-generations", "phase[0].job[0].work.entries.verify.read_before_write",
         "[[phase]]\n[[phase.job]]\nwork.entries = { steps = [\"open\", \"write\", \"close\"], \
          take = {}, verify = { read_before_write = true } }"),
        ("weights", "phase[0].job[0].work.entries.size_mix",
         "[[phase]]\n[[phase.job]]\nwork.entries = { steps = [\"open\", \"read\", \"close\"], \
          size_mix = \"4k:50,8k:20\" }"),
        ("word-unused", "phase[0].job[0].work.entries.read_by_chance",
         "[[phase]]\n[[phase.job]]\nwork.entries = { steps = [\"stat\"], read_by_chance = true }"),
        ("word-unused", "phase[0].job[0].work.entries.open_sync",
         "[[phase]]\n[[phase.job]]\nwork.entries = { steps = [\"stat\"], open_sync = \"dsync\" }"),
        ("paced-steps", "phase[0].job[0].work.entries.paced_steps",
         "[[phase]]\n[[phase.job]]\n\
          work.entries = { steps = [\"stat\"], paced_steps = [\"read\"] }"),
        ("select", "phase[0].job[0].work.entries.select",
         "[[phase]]\n[[phase.job]]\nwork.entries = { steps = [\"stat\"], \
          select = { exponential = { midpoint = 0.0 } } }"),
    ];
    are_among(&cases);
}

#[test]
fn errors_in_journals_of_trees() {
    #[rustfmt::skip]
    let cases = [
        (
            "verify-generations",
            "phase[0].job[0].work.entries.verify.journal",
            "[[phase]]\n[[phase.job]]\nwork.entries = { \
          steps = [\"open\", \"read\", \"close\"], verify.journal.directory = \"/j\" }",
        ),
        (
            "verify-generations",
            "phase[0].job[0].work.entries.verify.journal_to",
            "[[phase]]\n[[phase.job]]\nwork.entries = { steps = [\"unlink\"], take = {}, \
          verify = { generations = true, journal_to.directory = \"/j\" } }",
        ),
        (
            "journal",
            "phase[0].job[0].work.entries.verify.journal.directory",
            "[[phase]]\n[[phase.job]]\nwork.entries = { steps = [\"unlink\"], take = {}, \
          verify = { generations = true, journal = {} } }",
        ),
        (
            "verify-generations",
            "phase[0].job[0].work.entries.verify.generations",
            "[[phase]]\n[[phase.job]]\nwork.entries = { steps = [\"rmdir\"], \
          over = \"directories\", take = {}, verify = { generations = true, journal.directory = \"/j\" } }",
        ),
    ];
    are_among(&cases);
}
