//! The way from the workers to the devices, with what each part can carry and where the limit is.

mod draw;
mod graph;

use candor_record::Report;

use crate::markup::Markup;

/// The picture, and the same in words.
pub struct Picture {
    /// The drawing.
    pub svg: Markup,
    /// Width of the drawing in pixels.
    pub width: usize,
    /// The name of each part, and what is to be said of it.
    pub words: Vec<(String, String)>,
}

/// The picture of a report; none where nothing is known of its targets.
pub fn picture(report: &Report) -> Option<Picture> {
    let graph = graph::of(report)?;
    let words = graph.nodes.iter().map(|node| (node.title.clone(), node.words())).collect();
    let (svg, width) = draw::svg(&graph);
    Some(Picture { svg, width, words })
}
