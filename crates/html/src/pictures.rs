//! Pictures on a page: the drawing, its values for the script, and the table behind it.

use candor_chart::{Chart, Look};
use candor_show::{Align, Cell, Table};

use crate::markup::Markup;
use crate::parts;

/// Names, and widths in pixels, of the two drawings of a picture: the style sheet shows the one
/// that fits, with letters of a size that can be read.
const DRAWINGS: [(&str, f64); 2] = [("wide", 1040.0), ("narrow", 440.0)];
/// Rows of the table behind a panel.
const ROWS_MAX: usize = 60;

/// Where the title of a picture stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heading {
    /// Above the picture.
    Own,
    /// Above the picture, a step below the headings of the section's parts.
    Named,
    /// The heading of the section says it already.
    Section,
}

/// A picture with its title, under a name that no other picture of the page has.
pub fn figure(into: &mut Markup, id: &str, chart: &Chart, heading: Heading) {
    if chart.is_empty() {
        return;
    }
    into.within("figure", &[("class", "picture")], |figure| {
        figure.within("figcaption", &[], |caption| {
            match heading {
                Heading::Own => caption.element("h3", &[], &chart.title),
                Heading::Named => caption.element("h4", &[], &chart.title),
                Heading::Section => {}
            }
            if !chart.subtitle.is_empty() {
                caption.element("p", &[("class", "dim")], &chart.subtitle);
            }
        });
        figure.within("div", &[("class", "plot")], |plot| {
            for (name, width) in DRAWINGS {
                let id = format!("{id}-{name}");
                plot.within("div", &[("class", name)], |drawing| {
                    let look = Look { width, is_framed: false, id, ..Look::default() };
                    drawing.trusted(&chart.svg(&look));
                });
            }
            plot.open("script", &[("type", "application/json")]);
            // Within JSON `<` stands in texts only, where it may be written so.
            plot.trusted(&chart.data().to_string().replace('<', "\\u003c"));
            plot.close("script");
        });
        behind(figure, chart);
    });
}

/// The values as tables, one for each panel.
fn behind(figure: &mut Markup, chart: &Chart) {
    let attributes = [("class", "long")];
    figure.within("details", &attributes, |details| {
        details.element("summary", &[], "Numbers of this chart");
        for (nth, panel) in chart.panels.iter().enumerate() {
            let values = chart.table(nth, ROWS_MAX);
            let side = |at: usize| if at == 0 { Align::Left } else { Align::Right };
            let heads: Vec<_> =
                values.head.iter().enumerate().map(|(at, name)| (name, side(at))).collect();
            let mut table = Table::new(&heads);
            for row in values.rows {
                table.row(row.into_iter().map(Cell::from).collect());
            }
            details.element("p", &[("class", "panel")], &panel.y.label);
            parts::table(details, &panel.y.label, &table);
            if values.left_out > 0 {
                let left_out = candor_record::fmt::counted(values.left_out as u64, "row");
                let text = format!("{left_out} between these left out; the samples contain all.");
                details.element("p", &[("class", "dim")], &text);
            }
        }
    });
}
