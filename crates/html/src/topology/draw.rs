//! The graph as SVG: levels from top to bottom, each part a box.

use crate::markup::Markup;
use crate::topology::graph::{Graph, Node, Part};

const BOX_WIDTH: usize = 232;
const LINE_HEIGHT: usize = 17;
const TITLE_HEIGHT: usize = 30;
const BAR_HEIGHT: usize = 22;
const TAG_HEIGHT: usize = 24;
const PADDING: usize = 9;
const GAP: usize = 22;
const ARROW: usize = 26;
/// Letters that fit a title and a line.
const TITLE_LETTERS: usize = 26;
const LINE_LETTERS: usize = 33;

/// Place of a box.
#[derive(Clone, Copy, Default)]
struct Place {
    x: usize,
    y: usize,
    height: usize,
}

/// The drawing, and its width in pixels.
pub fn svg(graph: &Graph) -> (Markup, usize) {
    let (places, width, height) = layout(graph);
    let mut svg = Markup::new();
    let view = format!("0 0 {width} {height}");
    let wide = format!("max-width:{width}px;min-width:{}px", width.min(MIN_WIDTH));
    let attributes = [
        ("class", "path"),
        ("viewBox", view.as_str()),
        ("role", "img"),
        ("aria-label", "Path from the workers to the devices"),
        ("style", wide.as_str()),
    ];
    svg.within("svg", &attributes, |svg| {
        for (upper, lower) in &graph.edges {
            edge(svg, places[*upper], places[*lower]);
        }
        for (node, place) in graph.nodes.iter().zip(&places) {
            self::node(svg, node, *place);
        }
    });
    (svg, width)
}

/// Narrower than this, boxes are not made smaller: the picture scrolls.
const MIN_WIDTH: usize = 620;

/// Places of all boxes, width and height of the picture.
fn layout(graph: &Graph) -> (Vec<Place>, usize, usize) {
    let levels = graph.nodes.iter().map(|node| node.level).max().unwrap_or(0);
    let of_level = |level| {
        let nodes = graph.nodes.iter().enumerate();
        nodes.filter(move |(_, node)| node.level == level).map(|(at, _)| at).collect::<Vec<_>>()
    };
    let row_width = |count: usize| count * BOX_WIDTH + count.saturating_sub(1) * GAP;
    let width = (0..=levels).map(|level| row_width(of_level(level).len())).max().unwrap_or(0) + 2;
    let mut places = vec![Place::default(); graph.nodes.len()];
    let mut y = 1;
    for level in 0..=levels {
        let row = of_level(level);
        let left = (width - row_width(row.len())) / 2;
        let height = row.iter().map(|at| box_height(&graph.nodes[*at])).max().unwrap_or(0);
        for (nth, at) in row.iter().enumerate() {
            let x = left + nth * (BOX_WIDTH + GAP);
            places[*at] = Place { x, y, height };
        }
        y += height + ARROW;
    }
    (places, width, y.saturating_sub(ARROW) + 1)
}

fn box_height(node: &Node) -> usize {
    let bar = if node.used.is_some() { BAR_HEIGHT } else { 0 };
    let tag = if node.limits.is_some() { TAG_HEIGHT } else { 0 };
    TITLE_HEIGHT + node.lines.len() * LINE_HEIGHT + bar + tag + PADDING
}

fn edge(svg: &mut Markup, upper: Place, lower: Place) {
    let middle = |place: Place| place.x + BOX_WIDTH / 2;
    let (x1, y1, x2, y2) = (middle(upper), upper.y + upper.height, middle(lower), lower.y);
    let bend = (y1 + y2) / 2;
    let way = if x1 == x2 {
        format!("M{x1} {y1}V{y2}")
    } else {
        format!("M{x1} {y1}C{x1} {bend} {x2} {bend} {x2} {y2}")
    };
    svg.element("path", &[("class", "edge"), ("d", &way)], "");
}

fn node(svg: &mut Markup, node: &Node, place: Place) {
    let limit = if node.limits.is_some() { " limit" } else { "" };
    let class = format!("node {}{limit}", kind(&node.part));
    let at = |number: usize| number.to_string();
    let (x, text_x) = (at(place.x), at(place.x + 14));
    svg.within("g", &[("class", &class)], |g| {
        g.element("title", &[], &format!("{}: {}", node.title, node.words()));
        let size = [("width", at(BOX_WIDTH)), ("height", at(place.height))];
        let [width, height] = [&size[0], &size[1]].map(|(name, value)| (*name, value.as_str()));
        g.element("rect", &[("x", &x), ("y", &at(place.y)), width, height, ("rx", "7")], "");
        let mut y = place.y + 21;
        let title = cut(&node.title, TITLE_LETTERS);
        g.element("text", &[("class", "title"), ("x", &text_x), ("y", &at(y))], &title);
        for line in &node.lines {
            y += LINE_HEIGHT;
            let line = cut(line, LINE_LETTERS);
            g.element("text", &[("class", "line"), ("x", &text_x), ("y", &at(y))], &line);
        }
        if let Some((share, text)) = &node.used {
            y += BAR_HEIGHT;
            bar(g, place, y, *share, text);
        }
        if let Some(of) = &node.limits {
            y += TAG_HEIGHT;
            let text = cut(&format!("Limits {of}"), LINE_LETTERS);
            g.element("text", &[("class", "tag"), ("x", &text_x), ("y", &at(y))], &text);
        }
    });
}

/// How much of the ceiling was used, as a bar with its number.
fn bar(g: &mut Markup, place: Place, y: usize, share: f64, text: &str) {
    let whole = BOX_WIDTH - 110;
    let filled = (share.clamp(0.0, 1.0) * whole as f64).round();
    let (x, top) = ((place.x + 14).to_string(), (y - 9).to_string());
    for (class, width) in [("whole", whole.to_string()), ("filled", filled.to_string())] {
        let place = [("x", x.as_str()), ("y", &top), ("width", &width), ("height", "8")];
        g.element("rect", &[&[("class", class), ("rx", "4")], &place[..]].concat(), "");
    }
    let label = (place.x + 14 + whole + 10).to_string();
    let text = format!("{text} used");
    g.element("text", &[("class", "line"), ("x", &label), ("y", &y.to_string())], &text);
}

fn kind(part: &Part) -> &'static str {
    match part {
        Part::Load => "load",
        Part::Cache => "cache",
        Part::Target(_) => "target",
        Part::Filesystem(_) => "filesystem",
        Part::Remote(_) | Part::Link(_) => "link",
        Part::Device(_) => "device",
    }
}

/// The text, its middle left out where it is longer: paths and models differ at their ends.
fn cut(text: &str, letters: usize) -> String {
    let count = text.chars().count();
    if count <= letters {
        return text.to_owned();
    }
    let (head, tail) = (letters / 2, letters - letters / 2 - 1);
    let start: String = text.chars().take(head).collect();
    format!("{start}…{}", text.chars().skip(count - tail).collect::<String>())
}
