//! Whole pictures: small ones as they are, and many odd ones that must come out sound.

use candor_record::Unit;
use proptest::prelude::*;

use crate::*;

pub fn timeline() -> Chart {
    let rate = |of: f64| {
        let point =
            |nth: u32| (f64::from(nth) * 1e9 + 0.5e9, of * (1.0 + f64::from(nth % 3) / 10.0));
        Shape::Line((0..10).map(point).collect())
    };
    let y = Axis::linear("Throughput", Unit::BytesPerS);
    let series = vec![Series::new("read", 0, rate(400e6)), Series::new("write", 1, rate(100e6))];
    let levels = vec![Level { value: 550e6, label: "SATA link".into() }];
    let spans = (0..10).map(|nth| (f64::from(nth) * 1e9, 2e5, 9e5)).collect();
    let band = Series::new("read p50 to p99", 0, Shape::Band(spans));
    let mark = |at, until, kind, label: &str| Mark { at, until, kind, label: label.into() };
    Chart {
        title: "Reads & writes".into(),
        subtitle: "/dev/sda, 1 MiB, depth 4".into(),
        source: "candor 0.1.0, 2026-11-23".into(),
        verdict: "Believable".into(),
        caution: None,
        description: "Throughput over ten seconds.".into(),
        x: Axis::elapsed(),
        panels: vec![
            Panel { levels, ..Panel::new(y, series) },
            Panel { weight: Weight::Low, ..Panel::new(Axis::log("Latency", Unit::Ns), vec![band]) },
        ],
        marks: vec![
            mark(0.0, Some(5e9), MarkKind::Phase, "fill"),
            mark(5e9, Some(10e9), MarkKind::Phase, "read back"),
            mark(7e9, None, MarkKind::Finding, "F2"),
        ],
    }
}

/// Bars of two runs, the second of which cannot be believed.
fn bars() -> Chart {
    let bar = |row: u32, value: f64, is_doubtful| Bar {
        row: row as usize,
        value,
        interval: Some((value * 0.9, value * 1.1)),
        note: "± 10 %".into(),
        is_doubtful,
    };
    let shape = Shape::Bars(vec![bar(0, 1e5, false), bar(1, 9e5, true)]);
    let panel = Panel::new(Axis::linear("IOPS", Unit::OpsPerS), vec![Series::new("", 0, shape)]);
    Chart {
        title: "Two runs".into(),
        verdict: "Not the storage's number".into(),
        caution: Some("The second run measures the page cache.".into()),
        x: Axis::categories("", ["ext4".to_owned(), "cached".to_owned()]),
        panels: vec![panel],
        ..Chart::default()
    }
}

#[test]
fn a_timeline_is_drawn() {
    insta::assert_snapshot!(timeline().svg(&Look { width: 480.0, ..Look::default() }));
}

#[test]
fn bars_are_drawn_and_the_doubtful_one_is_hollow() {
    insta::assert_snapshot!(bars().svg(&Look { width: 480.0, ..Look::default() }));
}

#[test]
fn the_data_are_those_of_the_picture() {
    insta::assert_snapshot!(serde_json::to_string_pretty(&timeline().data()).unwrap());
}

/// Every element that opens closes, and no number is none.
fn is_sound(svg: &str) -> Result<(), String> {
    let mut open = Vec::new();
    for tag in svg.split('<').skip(1) {
        let (tag, _) = tag.split_once('>').ok_or_else(|| format!("no end of {tag}"))?;
        let name = tag.split(' ').next().unwrap_or_default();
        match (name.strip_prefix('/'), tag.ends_with('/')) {
            (Some(name), _) if open.pop() != Some(name) => return Err(format!("{name} closes")),
            (Some(_), _) | (None, true) => {}
            (None, false) => open.push(name),
        }
        for part in tag.split('"').skip(1).step_by(2) {
            if part.contains("NaN") || part.contains("inf") {
                return Err(tag.to_owned());
            }
        }
    }
    if open.is_empty() { Ok(()) } else { Err(format!("{open:?} stays open")) }
}

fn value() -> impl Strategy<Value = f64> {
    prop_oneof![
        prop::num::f64::ANY,
        0.0f64..1e3,
        1e3f64..1e12,
        Just(0.0),
        Just(f64::NAN),
        Just(1e300),
        Just(5e-324)
    ]
}

fn shape() -> impl Strategy<Value = Shape> {
    let two = prop::collection::vec((value(), value()), 0..60);
    let three = prop::collection::vec((value(), value(), value()), 0..20);
    let five = prop::collection::vec(((value(), value()), (value(), value()), value()), 0..20);
    let key = ValueKey { label: "n".into(), unit: Unit::Count, is_log: true };
    let bar = |(row, value, (low, high)): (usize, f64, (f64, f64))| Bar {
        row,
        value,
        interval: Some((low, high)),
        ..Bar::default()
    };
    let bars = prop::collection::vec((0usize..4, value(), (value(), value())).prop_map(bar), 0..6);
    let cell = |(x, y, value)| Cell { x, y, value };
    (0u8..9, two, three, five, bars).prop_map(move |(kind, two, three, five, bars)| match kind {
        0 => Shape::Line(two),
        1 => Shape::Dotted(two),
        2 => Shape::Step(two),
        3 => Shape::Area(two),
        4 => Shape::Dots(two),
        5 => Shape::Band(three),
        6 => Shape::Whiskers(three),
        7 => Shape::Bars(bars),
        _ => Shape::Cells(five.into_iter().map(cell).collect(), key.clone()),
    })
}

fn axis() -> impl Strategy<Value = Axis> {
    let scale = prop_oneof![
        Just(Scale::Linear),
        Just(Scale::Spread),
        Just(Scale::Log),
        Just(Scale::Times),
        Just(Scale::Nines),
        Just(Scale::Elapsed),
        Just(Scale::Date),
        prop::collection::vec(".{0,40}", 0..5).prop_map(Scale::Category),
    ];
    let unit = prop_oneof![
        Just(Unit::Ns),
        Just(Unit::Bytes),
        Just(Unit::BytesPerS),
        Just(Unit::OpsPerS),
        Just(Unit::Share),
        Just(Unit::Change),
        Just(Unit::Celsius),
    ];
    (".{0,30}", unit, scale).prop_map(|(label, unit, scale)| Axis::new(&label, unit, scale))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn whatever_the_values_the_picture_is_sound(
        x in axis(),
        panels in prop::collection::vec(
            (axis(), prop::collection::vec((".{0,20}", 0usize..20, shape()), 0..4), value()), 0..4),
        marks in prop::collection::vec((value(), prop::option::of(value()), ".{0,60}"), 0..5),
        width in prop_oneof![Just(390.0), Just(960.0), value()],
        title in ".{0,200}",
    ) {
        let panel = |(y, series, level): (Axis, Vec<(String, usize, Shape)>, f64)| {
            let series = series.into_iter().map(|(name, slot, shape)| Series { name, slot, shape });
            let levels = vec![Level { value: level, label: "limit".into() }];
            Panel { levels, ..Panel::new(y, series.collect()) }
        };
        let mark = |(at, until, label)| Mark { at, until, label, kind: MarkKind::Finding };
        let chart = Chart {
            caution: Some(title.clone()),
            verdict: title.clone(),
            title,
            x,
            panels: panels.into_iter().map(panel).collect(),
            marks: marks.into_iter().map(mark).collect(),
            ..Chart::default()
        };
        let svg = chart.svg(&Look { width, ..Look::default() });
        prop_assert_eq!(is_sound(&svg), Ok(()));
        prop_assert_eq!(&svg, &chart.svg(&Look { width, ..Look::default() }));
        prop_assert!(!svg.contains("<script"));
        let data = chart.data().to_string();
        prop_assert!(!data.contains("NaN"));
        (0..chart.panels.len()).for_each(|at| {
            let table = chart.table(at, 10);
            assert!(table.rows.len() <= 10);
            assert!(table.rows.iter().all(|row| row.len() == table.head.len()));
        });
    }
}

#[test]
fn half_an_hour_of_seconds_is_a_small_picture_with_all_its_extremes() {
    let wave = |nth: u32| 1e8 * (2.0 + (f64::from(nth) / 7.0).sin());
    let mut points: Vec<(f64, f64)> =
        (0..1800 * 20).map(|nth| (f64::from(nth) * 5e7, wave(nth))).collect();
    points[17_171].1 = 9e8;
    let series =
        (0..4).map(|slot| Series::new(format!("job {slot}"), slot, Shape::Line(points.clone())));
    let panel = Panel::new(Axis::linear("Throughput", Unit::BytesPerS), series.collect());
    let chart = Chart { x: Axis::elapsed(), panels: vec![panel], ..Chart::default() };
    let svg = chart.svg(&Look::default());
    assert!(svg.len() < 200_000, "{} bytes", svg.len());
    let data = chart.data().to_string();
    assert!(data.len() < 400_000 && data.matches(",900000000]").count() == 4, "{}", data.len());
}
