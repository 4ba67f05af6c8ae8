use candor_plan::{Create, Listing, Plan, check, text};

use super::plan_of;

fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn flags_make_a_plan_that_can_run_and_be_kept() {
    for line in [
        "candor tree /data",
        "candor tree /data --workers 4 --levels 1 --width 10 --files 30 --size 128k",
        "candor tree /data --shared files --depth 8 --order shuffled --phases read,create",
        "candor tree /data --shared directories --size 4k --verify --block 4k --fsync --direct",
        "candor tree /data --phases delete,stat --overwrite --workers 2 --rank-shift 1 --seconds 3",
        "candor tree /data --no-sync --files 10",
        "candor tree /data --rate-ops 1000 --rate-bytes 1m --engine calls --repeats 2 --seed 7",
        "candor tree /data --list names --share-above 1m --block 64k --verify --workers 4",
        "candor tree /data --existing --order shuffled --seconds 3",
        "candor tree /data --existing --phases stat,delete --overwrite",
        "candor tree /data --set phase[2].job[0].workers=3",
    ] {
        let (plan, _) = plan_of(&words(line)).unwrap_or_else(|| panic!("{line}"));
        let found = check::check(&plan);
        assert!(found.is_empty(), "{line}: {found:#?}");
        let written = text::write_commented(&plan, &[]);
        let (again, _) = text::read("kept", &written).unwrap_or_else(|_| panic!("{written}"));
        assert_eq!(again, plan, "{line}");
    }
}

#[test]
fn phases_come_in_the_order_of_the_work() {
    let (plan, _) = plan_of(&words("candor tree /data --phases read,create")).expect("a plan");
    let names: Vec<_> = plan.phases.iter().map(|phase| phase.name.as_str()).collect();
    assert_eq!(names, ["create", "read"]);
    assert!(plan_of(&words("candor tree /data --phases reed")).is_none());
    assert!(plan_of(&words("candor tree")).is_none());
}

#[test]
fn what_is_there_is_only_looked_at_unless_more_is_asked_for() {
    let of = |line: &str| plan_of(&words(line)).expect("a plan").0;
    let names = |plan: &Plan| plan.phases.iter().map(|of| of.name.clone()).collect::<Vec<_>>();
    let plan = of("candor tree /data --existing");
    assert_eq!(names(&plan), ["stat", "list", "read"]);
    let target = &plan.targets[0];
    assert_eq!((target.create, target.keep, target.overwrite), (Create::Nothing, true, false));
    assert_eq!((&target.tree, target.listing.clone()), (&None, Some(Listing::default())));
    let written = text::write_commented(&plan, &[]);
    assert!(written.contains("\n[target.listing]\n\n"), "defaults are left out: {written}");
    let plan = of("candor tree /data --list names");
    assert_eq!((names(&plan).len(), plan.targets[0].create), (7, Create::Files));
    for line in [
        "candor tree /data --existing --list names",
        "candor tree /data --existing --width 3",
        "candor tree /data --list names --size 4k",
        "candor tree /data --share-above 1m",
    ] {
        assert!(plan_of(&words(line)).is_none(), "{line}");
    }
}
