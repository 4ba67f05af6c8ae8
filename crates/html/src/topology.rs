//! The way from the workers to the devices, with what each part can carry and where the limit is.

mod draw;
mod graph;

use candor_record::Report;

use crate::markup::Markup;

/// The picture, and the same in sentences.
pub struct Picture {
    /// The drawing.
    pub svg: Markup,
    /// A sentence for each part.
    pub words: Vec<String>,
}

/// The picture of a report; none where nothing is known of its targets.
pub fn picture(report: &Report) -> Option<Picture> {
    let graph = graph::of(report)?;
    let words = graph.nodes.iter().map(graph::Node::sentence).collect();
    Some(Picture { svg: draw::svg(&graph), words })
}
