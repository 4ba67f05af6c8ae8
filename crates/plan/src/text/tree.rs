//! The tree of a TOML text, with the byte range of everything in it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use serde_json::{Map, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::PlanPath;
use crate::values::{self, Misfit};

/// Where a value is in the text.
#[derive(Clone, Debug)]
pub(super) struct Node {
    /// Where its key is; elements of arrays have none.
    pub key: Option<Range<usize>>,
    /// Where its value is; for a section, its header.
    pub value: Range<usize>,
    /// Kind of the node in words, where it is a table or a list.
    pub kind: Option<&'static str>,
}

/// A number or a date that no key of a plan takes.
#[derive(Clone, Debug)]
pub(super) struct Odd {
    /// Where in the plan.
    pub place: PlanPath,
    /// The mistake and the remedy.
    pub sentence: &'static str,
}

/// A parsed text from which entries can be struck out.
pub(super) struct Tree {
    root: Value,
    nodes: BTreeMap<PlanPath, Node>,
    struck: BTreeSet<PlanPath>,
    odd: Vec<Odd>,
}

impl Tree {
    /// The tree over the values in `root`.
    pub fn new(root: &DeTable<'_>) -> Self {
        let mut tree = Tree {
            root: Value::Null,
            nodes: BTreeMap::new(),
            struck: BTreeSet::new(),
            odd: Vec::new(),
        };
        tree.root = tree.table(root, &PlanPath::root());
        tree
    }

    /// Everything in the text.
    pub fn nodes(&self) -> &BTreeMap<PlanPath, Node> {
        &self.nodes
    }

    /// Numbers and dates that no key of a plan takes; they are not in the tree.
    pub fn odd(&self) -> &[Odd] {
        &self.odd
    }

    /// The number that the plan's version is given as.
    pub fn version(&self) -> Option<u64> {
        self.root.get("version")?.as_u64()
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
        self.struck.iter().any(|other| {
            let parent = other.parent();
            let list = parent.clone().filter(|_| other.as_str().ends_with(']'));
            let owner = list.and_then(|list| list.parent());
            parent.as_ref() == Some(place) || owner.as_ref() == Some(place)
        })
    }

    /// The plan of the rest of the text.
    pub fn plan(&self) -> Result<crate::Plan, Box<Misfit>> {
        values::from_rest(&self.root, &self.struck)
    }

    /// The innermost entry at a place or around it that was not struck out.
    pub fn find(&self, place: &PlanPath) -> Option<(PlanPath, &Node)> {
        let mut place = Some(place.clone());
        while let Some(current) = place {
            if let Some(node) = self.nodes.get(&current).filter(|_| !self.struck.contains(&current))
            {
                return Some((current, node));
            }
            place = current.parent();
        }
        None
    }

    fn table(&mut self, table: &DeTable<'_>, at: &PlanPath) -> Value {
        let mut entries = Map::new();
        for (key, value) in table.iter() {
            let name: &str = key.get_ref();
            let value = self.value(value, at.key(name), Some(key.span()));
            entries.insert(name.to_owned(), value);
        }
        Value::Object(entries)
    }

    fn value(
        &mut self,
        value: &Spanned<DeValue<'_>>,
        place: PlanPath,
        key: Option<Range<usize>>,
    ) -> Value {
        let kind = match value.get_ref() {
            DeValue::Table(_) => Some("a table"),
            DeValue::Array(_) => Some("a list"),
            _ => None,
        };
        self.nodes.insert(place.clone(), Node { key, value: value.span(), kind });
        match value.get_ref() {
            DeValue::Table(table) => self.table(table, &place),
            DeValue::Array(array) => {
                let elements = array.iter().enumerate();
                elements.map(|(i, element)| self.value(element, place.index(i), None)).collect()
            }
            scalar => plain(scalar).unwrap_or_else(|sentence| {
                self.strike(place.clone());
                self.odd.push(Odd { place, sentence });
                Value::Null
            }),
        }
    }
}

/// A value that is neither a table nor a list; a sentence about a number or date that no key takes.
fn plain(value: &DeValue<'_>) -> Result<Value, &'static str> {
    match value {
        DeValue::String(text) => Ok(Value::String(text.clone().into_owned())),
        DeValue::Boolean(value) => Ok(Value::Bool(*value)),
        DeValue::Integer(number) => {
            let (digits, radix) = (number.as_str(), number.radix());
            let signed = i64::from_str_radix(digits, radix).map(Value::from);
            signed
                .or_else(|_| u64::from_str_radix(digits, radix).map(Value::from))
                .map_err(|_| "the number has more than 64 bits; write a smaller number")
        }
        DeValue::Float(number) => {
            let number = number.as_str().parse().ok().and_then(serde_json::Number::from_f64);
            number.map(Value::Number).ok_or("the number is not finite; write a finite number")
        }
        DeValue::Array(_) | DeValue::Table(_) => Err("neither a number nor a text; write one"),
        DeValue::Datetime(_) => Err("a date has no use here; write it in quotes if it is a text"),
    }
}

/// The value of a text that is TOML.
pub(super) fn value_of(text: &str) -> Option<Value> {
    let line = format!("value = {text}");
    let (table, errors) = DeTable::parse_recoverable(&line);
    let mut tree = Tree::new(table.get_ref());
    let entries = tree.root.as_object_mut()?;
    let only = errors.is_empty() && tree.odd.is_empty() && entries.len() == 1;
    only.then(|| entries.remove("value"))?
}
