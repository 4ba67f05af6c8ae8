//! Pages in a real browser: nothing is loaded, nothing complains, pictures are drawn, and the
//! script does what it is there for.

#[path = "browser/driver.rs"]
mod driver;
#[path = "browser/long.rs"]
mod long;
#[path = "browser/reports.rs"]
mod reports;
#[path = "browser/shades.rs"]
mod shades;

use std::path::{Path, PathBuf};

use driver::Browser;
use serde_json::{Value, json};

/// A page in a file of its own.
struct Page {
    dir: tempfile::TempDir,
}

impl Page {
    fn of(report: &candor_record::Report) -> Page {
        let dir = tempfile::tempdir().expect("a directory");
        std::fs::write(dir.path().join("report.html"), reports::page(report)).expect("written");
        Page { dir }
    }

    fn path(&self) -> PathBuf {
        self.dir.path().join("report.html")
    }
}

/// Opens a page and waits until the script has come to the first picture.
fn opened(browser: &Browser, page: &Path) {
    browser.open(page);
    for _ in 0..50 {
        if browser.run("document.querySelectorAll('.tip').length > 0") == true {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(40));
    }
    panic!("no picture came to life: {:?}", browser.console());
}

/// All that is looked at in one browser, since starting one takes longer than each.
const CHECKS: &[fn(&Browser)] = &[
    a_page_loads_nothing_and_every_picture_is_drawn,
    values_are_read_by_mouse_and_by_keys,
    pictures_zoom_hide_series_and_change_their_axes,
    the_scripts_numbers_are_those_of_the_report,
    hostile_names_are_words,
    it_is_seen_on_a_desk_on_a_phone_in_the_dark_and_on_paper,
    keyboards_and_readers_find_their_way,
    half_an_hour_of_sixty_four_workers_stays_small,
    // Scripts stay off in this browser.
    without_its_script_the_page_is_whole,
];

#[test]
fn pages_in_a_browser() {
    let Some(browser) = Browser::start() else { return };
    CHECKS.iter().for_each(|check| check(&browser));
}

fn a_page_loads_nothing_and_every_picture_is_drawn(browser: &Browser) {
    for name in ["past-the-knee", "lab-6.1-sata", "lab-6.1-parity", "zram-traced"] {
        let page = Page::of(&reports::recorded(name));
        opened(browser, &page.path());
        let own = format!("file://{}", page.path().display());
        let others: Vec<String> =
            browser.requests().into_iter().filter(|url| *url != own && !is_blank(url)).collect();
        assert_eq!(others, Vec::<String>::new(), "{name}");
        assert_eq!(browser.run("performance.getEntriesByType('resource').length"), 0, "{name}");
        let drawn = browser.run(
            "return [...document.querySelectorAll('.wide svg, svg.path')].map(svg => {
               const box = svg.getBoundingClientRect();
               const paths = [...svg.querySelectorAll('path')].map(p => p.getAttribute('d'));
               return [box.width, box.height, paths.length, paths.filter(d => !d || d.includes('NaN'))
                 .length, svg.querySelectorAll('text').length];
             });",
        );
        let drawn = drawn.as_array().expect("a list");
        assert!(drawn.len() >= 2, "{name}: {drawn:?}");
        for svg in drawn {
            let of = |at: usize| svg[at].as_f64().expect("a number");
            assert!(of(0) > 200.0 && of(1) > 60.0, "{name}: {svg}");
            assert!(of(2) >= 1.0 && of(3) == 0.0 && of(4) >= 2.0, "{name}: {svg}");
        }
        assert_eq!(browser.console(), Vec::<String>::new(), "{name}");
    }
}

fn is_blank(url: &str) -> bool {
    url.starts_with("data:") || url.starts_with("about:") || url.starts_with("chrome:")
}

/// The place of the first plot in the window, scrolled there: left, top, width, height.
fn first_plot(browser: &Browser) -> [f64; 4] {
    let place = browser.run(
        "const svg = document.querySelector('.wide svg[data-x]');
         const [x, y, w, h] = svg.querySelector('[data-panel]').dataset.plot.split(' ').map(Number);
         // A tall picture has its first plot above a window that shows its middle.
         const at = svg.getBoundingClientRect(), scale = at.width / svg.viewBox.baseVal.width;
         const top = scrollY + at.top + (y + h / 2) * scale - innerHeight / 2;
         scrollTo({ top, behavior: 'instant' });
         const box = svg.getBoundingClientRect();
         return [box.left + x * scale, box.top + y * scale, w * scale, h * scale];",
    );
    let number = |at: usize| place[at].as_f64().expect("a number");
    [number(0), number(1), number(2), number(3)]
}

/// The values that the page tells of a place; a picture comes to life soon after it comes into the
/// window.
fn tip_at(browser: &Browser, x: f64, y: f64) -> String {
    for nth in 0..100 {
        browser.mouse(&[(x + f64::from(nth % 2), y)], false);
        let tip = browser.run("document.querySelector('.tip:not([hidden])')?.innerText ?? ''");
        match tip.as_str().expect("a text") {
            "" => std::thread::sleep(std::time::Duration::from_millis(50)),
            tip => return tip.to_owned(),
        }
    }
    panic!("no values are shown");
}

fn values_are_read_by_mouse_and_by_keys(browser: &Browser) {
    let page = Page::of(&reports::recorded("past-the-knee"));
    opened(browser, &page.path());
    let [left, top, width, height] = first_plot(browser);
    let tip = tip_at(browser, left + width / 2.0, top + height / 2.0);
    assert!(tip.contains(" s\n") || tip.contains(" ms\n"), "{tip}");
    assert!(tip.contains("MB/s") || tip.contains("k"), "{tip}");
    browser.run("return document.querySelector('.wide svg[data-x]').closest('.plot').focus()");
    browser.press("\u{e014}\u{e014}");
    let spoken = browser.run("document.getElementById('spoken').textContent");
    assert!(spoken.as_str().expect("a text").contains("; "), "{spoken}");
    browser.press("\u{e00c}");
    assert_eq!(browser.run("document.querySelectorAll('.tip:not([hidden])').length"), 0);
    assert_eq!(browser.console(), Vec::<String>::new());
}

fn pictures_zoom_hide_series_and_change_their_axes(browser: &Browser) {
    let page = Page::of(&long::half_an_hour());
    opened(browser, &page.path());
    let ticks = "return [...document.querySelectorAll('.wide svg[data-x] .ticks text')]
                   .map(text => text.textContent)";
    let [left, top, width, height] = first_plot(browser);
    let middle = top + height / 2.0;
    let places = [0.25, 0.4, 0.6].map(|part| (left + width * part, middle));
    browser.mouse(&places, true);
    let zoomed = browser.run("document.querySelectorAll('svg.zoomed').length");
    assert_eq!(zoomed, 1, "{:?}", browser.console());
    let window = browser.run(ticks);
    assert!(window.as_array().expect("a list").len() >= 2, "{window}");
    browser.run("return document.querySelector('.wide svg[data-x]').closest('.plot').focus()");
    browser.press("+");
    assert_ne!(browser.run(ticks), window);
    browser.press("\u{e011}");
    assert_eq!(browser.run("document.querySelectorAll('svg.zoomed').length"), 0);
    let paths = "document.querySelector('.wide [data-series] path').getAttribute('d')";
    let before = browser.run(paths);
    browser.run("return document.querySelector('button.log').click()");
    assert_ne!(browser.run(paths), before);
    browser.run("return document.querySelector('button.log').click()");
    let shown = "[...document.querySelectorAll('.wide svg[data-x] [data-series]')]
                   .filter(series => series.style.display === 'none').length";
    assert_eq!(browser.run(shown), 0);
    let pressed = browser.run(
        "const button = document.querySelector('button.series');
         button.click(); return button.getAttribute('aria-pressed')",
    );
    assert_eq!(pressed, "false");
    assert!(browser.run(shown).as_u64().expect("a number") >= 1);
    let broken = "[...document.querySelectorAll('.wide svg[data-x] path')]
                    .filter(path => /NaN|Infinity/.test(path.getAttribute('d'))).length";
    assert_eq!(browser.run(broken), 0);
    assert_eq!(browser.console(), Vec::<String>::new());
}

fn the_scripts_numbers_are_those_of_the_report(browser: &Browser) {
    let mut report = reports::recorded("past-the-knee");
    // Halves, and values that are nearly the next unit's least.
    let halves = [12_250, 12_750, 100_500, 1_015, 2_125_000, 999_499, 999_500, 9_995, 99_950];
    let samples = report.phases.iter_mut().flat_map(|phase| &mut phase.measurements);
    let samples = samples.flat_map(|measured| &mut measured.samples);
    let all = samples.flat_map(|sample| &mut sample.operations).filter(|op| op.ops > 0);
    for (op, ns) in all.zip(halves.iter().cycle()) {
        (op.latency_ns_p50, op.latency_ns_p99) = (Some(*ns), Some(ns * 10 + 5_000));
    }
    let page = Page::of(&report);
    opened(browser, &page.path());
    // The tables behind a picture were written by candor, the tips by the script.
    let read = browser.run(
        "const figure = document.querySelector('.wide svg[data-x]').closest('figure');
         const rows = [...figure.querySelectorAll('details tbody tr')]
           .map(row => [...row.cells].map(cell => cell.textContent).filter(text => text));
         const plot = figure.querySelector('.plot'), tips = {};
         plot.focus();
         for (let n = 0; n < 2000; n++) {
           plot.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight' }));
           const [place, ...lines] = [...plot.querySelector('.tip').children]
             .map(line => line.textContent);
           (tips[place] ||= []).push(...lines);
         }
         return [rows, tips];",
    );
    let mut compared = 0;
    for row in read[0].as_array().expect("rows") {
        let row: Vec<&str> =
            row.as_array().expect("a row").iter().filter_map(Value::as_str).collect();
        let Some((place, values)) = row.split_first() else { continue };
        let tip = read[1][place].as_array().unwrap_or_else(|| panic!("no tip at {place}"));
        let lines: Vec<&str> = tip.iter().filter_map(Value::as_str).collect();
        // The script tells nothing of a gap.
        let values = values.iter().flat_map(|values| values.split(", "));
        for value in values.filter(|value| !value.starts_with("unknown")) {
            let is_told = lines.iter().any(|line| {
                line.ends_with(&format!(" {value}")) || line.contains(&format!(" {value} to "))
            });
            assert!(is_told, "{value} at {place} is not in {lines:?}");
            compared += 1;
        }
    }
    assert!(compared > 60, "{compared}");
}

fn hostile_names_are_words(browser: &Browser) {
    let hostile = "</title></script><script>document.title = 'owned'</script><img src=x onerror=\
                   \"document.title='owned'\">";
    let mut report = reports::recorded("past-the-knee");
    report.plan.name = hostile.into();
    for phase in &mut report.phases {
        phase.name = hostile.into();
        phase.measurements.iter_mut().for_each(|measured| measured.job = hostile.into());
        for host in &mut phase.hosts {
            for target in &mut host.facts.targets {
                target.path = hostile.into();
            }
            host.facts.devices.iter_mut().for_each(|device| device.name = hostile.into());
        }
    }
    let page = Page::of(&report);
    opened(browser, &page.path());
    let title = browser.run("document.title");
    assert!(title.as_str().expect("a text").starts_with("</title>"), "{title}");
    assert_eq!(browser.run("document.querySelectorAll('img, script:not([type])').length"), 1);
    assert_eq!(browser.console(), Vec::<String>::new());
}

fn it_is_seen_on_a_desk_on_a_phone_in_the_dark_and_on_paper(browser: &Browser) {
    let page = Page::of(&reports::recorded("past-the-knee"));
    opened(browser, &page.path());
    let desk = shades::shades(&browser.screenshot());
    let dark = json!({ "features": [{ "name": "prefers-color-scheme", "value": "dark" }] });
    browser.command("Emulation.setEmulatedMedia", &dark);
    let night = shades::shades(&browser.screenshot());
    browser.command("Emulation.setEmulatedMedia", &json!({ "features": [] }));
    let phone = json!({ "width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": true });
    browser.command("Emulation.setDeviceMetricsOverride", &phone);
    let hand = shades::shades(&browser.screenshot());
    for (name, seen) in [("desk", &desk), ("dark", &night), ("phone", &hand)] {
        assert!(seen.count > 30, "{name}: {} shades", seen.count);
    }
    assert!(desk.ground > 200 && night.ground < 60, "{} {}", desk.ground, night.ground);
    // Only tables, pictures and commands may be wider than the window, each in a frame of its own.
    let wide = browser.run("document.documentElement.scrollWidth <= window.innerWidth");
    assert_eq!(wide, true);
    browser.command("Emulation.clearDeviceMetricsOverride", &json!({}));
    assert_eq!(pages(&browser.print()), 1);
    browser.run("document.getElementById('print-all').checked = true");
    assert!(pages(&browser.print()) > 2);
    let check = Page::of(&reports::recorded("../recorded-series/check-quiet"));
    browser.open(&check.path());
    assert_eq!(pages(&browser.print()), 1);
}

/// Pages of a document for paper.
fn pages(paper: &[u8]) -> usize {
    assert!(paper.starts_with(b"%PDF"));
    let text = String::from_utf8_lossy(paper);
    text.matches("/Type /Page\n").count()
}

fn keyboards_and_readers_find_their_way(browser: &Browser) {
    let page = Page::of(&reports::recorded("lab-6.1-sata"));
    opened(browser, &page.path());
    let of = |script: &str| browser.run(script).as_u64().expect("a number");
    assert_eq!(of("document.querySelectorAll('h1').length"), 1);
    assert_eq!(of("document.querySelectorAll('main, header, footer, nav').length"), 4);
    let unnamed = "[...document.querySelectorAll('svg')].filter(svg =>
                     !svg.getAttribute('aria-label') && !svg.getAttribute('aria-labelledby')).length";
    assert_eq!(of(unnamed), 0);
    let doubled = "const ids = [...document.querySelectorAll('[id]')].map(e => e.id);
                   return ids.length - new Set(ids).size";
    assert_eq!(of(doubled), 0);
    let dead = "[...document.querySelectorAll('a[href^=\"#\"]')].filter(link =>
                  !document.getElementById(link.getAttribute('href').slice(1))).length";
    assert_eq!(of(dead), 0);
    // Headings go down one step at a time.
    let steps = browser.run(
        "const heads = [...document.querySelectorAll('h1,h2,h3,h4')];
         const levels = heads.map(h => Number(h.tagName[1]));
         return levels.filter((level, n) => n > 0 && level > levels[n - 1] + 1).length",
    );
    assert_eq!(steps, 0);
    for scheme in ["light", "dark"] {
        let media = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        browser.command("Emulation.setEmulatedMedia", &media);
        let faint = browser.run(include_str!("browser/contrast.js"));
        assert_eq!(faint, Value::Array(Vec::new()), "{scheme}");
    }
}

fn without_its_script_the_page_is_whole(browser: &Browser) {
    browser.command("Emulation.setScriptExecutionDisabled", &json!({ "value": true }));
    let page = Page::of(&reports::recorded("past-the-knee"));
    browser.open(&page.path());
    assert_eq!(pages(&browser.print()), 1);
    let shades = shades::shades(&browser.screenshot());
    assert!(shades.count > 30, "{}", shades.count);
}

fn half_an_hour_of_sixty_four_workers_stays_small(browser: &Browser) {
    let page = Page::of(&long::half_an_hour());
    opened(browser, &page.path());
    assert!(
        browser.run("document.querySelectorAll('*').length").as_u64().expect("a number") < 9000
    );
    assert_eq!(browser.console(), Vec::<String>::new());
    let times = browser.run(
        "const [of] = performance.getEntriesByType('navigation');
         return `drawn after ${of.domContentLoadedEventEnd} ms, done after ${of.loadEventEnd} ms`",
    );
    println!("{times}");
}

#[test]
fn half_an_hour_of_samples_makes_a_small_page() {
    let text = reports::page(&long::half_an_hour());
    assert!(text.len() < 3_000_000, "{} bytes", text.len());
}
