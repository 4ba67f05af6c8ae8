//! Pages of a run that several hosts ran.

use super::*;
use crate::csv;

#[test]
fn each_host_has_a_row() {
    let page = plain(&sample::of_hosts());
    assert!(page.lines().all(|line| line.chars().count() <= 100), "{page}");
    assert_snapshot!(page);
}

#[test]
fn the_first_screen_of_several_hosts_fits_80_by_24() {
    let narrow = Style { color: false, width: 80, is_screen: true };
    let screen = first_screen(&sample::of_hosts(), &narrow);
    assert!(screen.lines().count() <= 23, "{screen}");
    assert!(screen.lines().all(|line| line.chars().count() <= 80), "{screen}");
    assert_snapshot!(screen);
}

#[test]
fn the_table_of_hosts_is_written_for_machines_too() {
    assert_snapshot!(csv::table(&sample::of_hosts(), csv::Table::Hosts).expect("written"));
}

#[test]
fn facts_that_hosts_share_are_told_once() {
    let mut report = sample::of_hosts();
    let text = crate::facts::of_hosts(&report, &Style::default());
    assert!(text.starts_with("node-a, node-b\n\n") && text.contains("\nnode-c\n\n"), "{text}");
    assert_eq!(text.matches("Linux 6.12.9").count(), 2);
    report.phases[0].hosts.truncate(1);
    let text = crate::facts::of_hosts(&report, &Style::default());
    assert!(!text.contains("node-a"), "one host needs no name: {text}");
}
