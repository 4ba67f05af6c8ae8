use candor_record::facts::Missing;
use candor_record::requests::{Issuer, RequestOp, Requests};
use candor_record::{Ceiling, Traffic};
use ratatui_core::layout::Rect;

use super::*;
use crate::text;

fn device(name: &str, bytes_per_s: f64) -> Activity {
    let read = Traffic {
        per_s: bytes_per_s / 4096.0,
        bytes_per_s,
        size_mean_bytes: 4096,
        merged: 0.0,
        wait_mean_ns: 105_000,
    };
    let issuer = |pid, command: &str, count| Issuer {
        pid,
        command: command.into(),
        count,
        bytes: count * 4096,
    };
    let traced = Requests {
        device: name.into(),
        direction: RequestOp::Read,
        count: 10,
        bytes: 40_960,
        issuers: vec![issuer(4711, "postgres", 9), issuer(88, "rsync", 1)],
        ..Requests::default()
    };
    Activity {
        device: name.into(),
        read,
        queue_mean: 1.3,
        busy: 1.0,
        sentence: "never idle, but not necessarily full".into(),
        ceilings: vec![Ceiling {
            element: "SATA link".into(),
            bytes_per_s: Some(600e6),
            ops_per_s: None,
            arithmetic: "6 Gbit/s × 8/10".into(),
            used: Some(bytes_per_s / 600e6),
        }],
        requests: vec![traced],
        ..Activity::default()
    }
}

fn screen() -> WatchScreen {
    let mut screen = WatchScreen::new(false);
    for at in 1..=9 {
        let idle = Activity { device: "sdz".into(), ..Activity::default() };
        let devices = vec![device("sda", 5e7 * f64::from(at)), idle, device("nvme0n1", 5e8)];
        let watched = Watched { elapsed_s: 1.0, devices, ..Watched::default() };
        screen.look(watched, format!("12:00:0{at}, the last 1.0 s"));
    }
    screen
}

fn drawn(screen: &WatchScreen, columns: u16, rows: u16) -> String {
    let mut buffer = Buffer::empty(Rect::new(0, 0, columns, rows));
    screen.draw(0, &mut buffer);
    text(&buffer).lines().map(|line| format!("|{}\n", line.trim_end())).collect()
}

#[test]
fn devices_have_histories_and_ceilings() {
    insta::assert_snapshot!(drawn(&screen(), 80, 24));
}

#[test]
fn keys_sort_change_units_and_show_idle_devices() {
    let mut screen = screen();
    for key in ['s', 'u', 'i'] {
        screen.key(Key::Char(key));
    }
    insta::assert_snapshot!(drawn(&screen, 100, 24));
}

#[test]
fn processes_stand_behind_devices() {
    let mut screen = screen();
    screen.key(Key::Char('v'));
    insta::assert_snapshot!(drawn(&screen, 80, 24));
    let missing = Missing {
        what: "single requests".into(),
        why: "tracing takes CAP_BPF".into(),
        enable: "run as root".into(),
    };
    let untraced = Some(missing);
    screen.look(Watched { untraced, ..Watched::default() }, String::new());
    assert!(drawn(&screen, 80, 24).contains("single requests: tracing takes CAP_BPF"));
}

#[test]
fn details_are_those_of_the_text() {
    let mut screen = screen();
    screen.key(Key::Char('v'));
    screen.key(Key::Char('\t'));
    let shown = drawn(&screen, 80, 24);
    assert!(shown.contains("SATA link 600 MB/s, 75 % of it used"), "{shown}");
    screen.key(Key::PageDown);
    assert_ne!(drawn(&screen, 80, 12), shown);
    screen.key(Key::Char('1'));
    assert!(drawn(&screen, 80, 24).contains("|device "), "digits choose a view");
    screen.key(Key::Char('3'));
    assert_eq!(drawn(&screen, 80, 24), shown);
}

#[test]
fn a_pause_keeps_the_look() {
    let mut screen = screen();
    screen.key(Key::Char(' '));
    let paused = drawn(&screen, 80, 24);
    assert!(paused.contains("PAUSED"), "{paused}");
    screen.look(Watched::default(), "later".into());
    assert_eq!(drawn(&screen, 80, 24), paused);
    screen.key(Key::Char(' '));
    assert!(drawn(&screen, 80, 24).contains("nothing reached any device"));
    assert_eq!(screen.line(0, 80), "nothing reached any device");
    assert_eq!(screen.key(Key::Char('q')), Some(Action::End));
}
