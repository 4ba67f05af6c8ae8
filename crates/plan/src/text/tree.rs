//! The tree of a TOML text, with the place and the byte range of everything in it.

use std::collections::BTreeSet;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use crate::PlanPath;

/// One value in the text.
#[derive(Clone, Debug)]
pub(super) struct Node {
    /// Where in the plan.
    pub place: PlanPath,
    /// Where its key stands; elements of arrays have none.
    pub key: Option<Range<usize>>,
    /// Where its value stands; for a section, its header.
    pub value: Range<usize>,
    /// Kind of the node in words, where it is a table or a list.
    pub kind: Option<&'static str>,
}

/// A parsed text from which entries can be struck out.
pub(super) struct Tree<'t> {
    root: DeTable<'t>,
    nodes: Vec<Node>,
    struck: BTreeSet<PlanPath>,
}

impl<'t> Tree<'t> {
    /// The tree over the values in `root`.
    pub fn new(root: DeTable<'t>) -> Self {
        let mut nodes = Vec::new();
        list_table(&root, &PlanPath::root(), &mut nodes);
        Tree { root, nodes, struck: BTreeSet::new() }
    }

    /// Everything in the text, parents before their children.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The number that the plan's version is given as.
    pub fn version(&self) -> Option<u64> {
        let number = self.root.get("version")?.get_ref().as_integer()?;
        u64::from_str_radix(number.as_str(), number.radix()).ok()
    }

    /// Leaves the entry at `place` out from now on.
    pub fn strike(&mut self, place: PlanPath) {
        self.struck.insert(place);
    }

    /// True if an entry of that key was struck out.
    pub fn has_struck_key(&self, key: &str) -> bool {
        self.struck.iter().any(|place| place.as_str().rsplit('.').next() == Some(key))
    }

    /// True if an entry of `place` was struck out, or an element of one of its lists.
    pub fn struck_below(&self, place: &PlanPath) -> bool {
        let below = |other: &PlanPath| {
            let parent = other.parent();
            let list = parent.clone().filter(|_| other.as_str().ends_with(']'));
            let owner = list.and_then(|list| list.parent());
            parent.as_ref() == Some(place) || owner.as_ref() == Some(place)
        };
        self.struck.iter().any(below)
    }

    /// The rest of the text.
    pub fn rest(&self) -> Spanned<DeTable<'t>> {
        Spanned::new(0..0, keep_table(&self.root, &PlanPath::root(), &self.struck))
    }

    /// The innermost entry not struck out whose key or value has the given range; else the
    /// innermost one around it.
    pub fn find(&self, span: &Range<usize>) -> Option<&Node> {
        let live = || self.nodes.iter().rev().filter(|node| !self.is_struck(&node.place));
        let around = |range: &Range<usize>| range.start <= span.start && span.end <= range.end;
        live()
            .find(|node| node.key.as_ref() == Some(span) || node.value == *span)
            .or_else(|| live().find(|node| around(&node.value)))
    }

    fn is_struck(&self, place: &PlanPath) -> bool {
        let mut place = Some(place.clone());
        while let Some(current) = place {
            if self.struck.contains(&current) {
                return true;
            }
            place = current.parent();
        }
        false
    }
}

fn list_table(table: &DeTable<'_>, at: &PlanPath, nodes: &mut Vec<Node>) {
    for (key, value) in table.iter() {
        list_value(value, &at.key(key.get_ref()), Some(key.span()), nodes);
    }
}

fn list_value(
    value: &Spanned<DeValue<'_>>,
    place: &PlanPath,
    key: Option<Range<usize>>,
    nodes: &mut Vec<Node>,
) {
    let kind = match value.get_ref() {
        DeValue::Table(_) => Some("a table"),
        DeValue::Array(_) => Some("a list"),
        _ => None,
    };
    nodes.push(Node { place: place.clone(), key, value: value.span(), kind });
    match value.get_ref() {
        DeValue::Table(table) => list_table(table, place, nodes),
        DeValue::Array(array) => {
            for (i, element) in array.iter().enumerate() {
                list_value(element, &place.index(i), None, nodes);
            }
        }
        _ => {}
    }
}

fn keep_table<'t>(table: &DeTable<'t>, at: &PlanPath, struck: &BTreeSet<PlanPath>) -> DeTable<'t> {
    let mut kept = DeTable::new();
    for (key, value) in table.iter() {
        if let Some(value) = keep_value(value, &at.key(key.get_ref()), struck) {
            kept.insert(key.clone(), value);
        }
    }
    kept
}

fn keep_value<'t>(
    value: &Spanned<DeValue<'t>>,
    place: &PlanPath,
    struck: &BTreeSet<PlanPath>,
) -> Option<Spanned<DeValue<'t>>> {
    if struck.contains(place) {
        return None;
    }
    let kept = match value.get_ref() {
        DeValue::Table(table) => DeValue::Table(keep_table(table, place, struck)),
        DeValue::Array(array) => {
            let elements = array.iter().enumerate();
            let kept = elements.filter_map(|(i, e)| keep_value(e, &place.index(i), struck));
            DeValue::Array(kept.collect::<DeArray<'_>>())
        }
        other => other.clone(),
    };
    Some(Spanned::new(value.span(), kept))
}
