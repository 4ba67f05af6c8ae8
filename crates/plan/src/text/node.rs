//! A plan as a tree of plain values in the order of the types.

use std::fmt;

use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::PlanPath;

/// A value without its type, as serde sees it.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node {
    /// An absent option.
    Null,
    Bool(bool),
    /// Any whole number.
    Int(i128),
    Float(f64),
    Text(String),
    List(Vec<Node>),
    /// Keys in the order of the type's fields.
    Table(Vec<(String, Node)>),
}

impl Node {
    /// The value of `key`, if this is a table that has it.
    pub fn get(&self, key: &str) -> Option<&Node> {
        match self {
            Node::Table(entries) => entries.iter().find(|(k, _)| k == key).map(|(_, v)| v),
            _ => None,
        }
    }

    /// Adds the keys of another table that this one lacks, at every depth; lists go by their first
    /// elements.
    pub fn add(&mut self, other: &Node) {
        match (self, other) {
            (Node::Table(entries), Node::Table(others)) => {
                for (key, value) in others {
                    match entries.iter_mut().find(|(known, _)| known == key) {
                        Some((_, known)) => known.add(value),
                        None => entries.push((key.clone(), value.clone())),
                    }
                }
            }
            (Node::List(elements), Node::List(others)) => {
                for (element, other) in elements.iter_mut().zip(others) {
                    element.add(other);
                }
            }
            _ => {}
        }
    }

    /// The value at a place.
    pub fn at(&self, place: &PlanPath) -> Option<&Node> {
        let steps = place.as_str().split(['.', '[']).filter(|step| !step.is_empty());
        steps.into_iter().try_fold(self, |node, step| match node {
            Node::List(elements) => elements.get(step.strip_suffix(']')?.parse::<usize>().ok()?),
            node => node.get(step),
        })
    }

    /// The first element, if this is a list that has one.
    pub fn first(&self) -> Option<&Node> {
        match self {
            Node::List(elements) => elements.first(),
            _ => None,
        }
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Node, E> {
        Ok(Node::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Node, E> {
        Ok(Node::Int(i128::from(value)))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Node, E> {
        Ok(Node::Int(i128::from(value)))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Node, E> {
        Ok(Node::Float(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Node, E> {
        Ok(Node::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Node, A::Error> {
        let mut elements = Vec::new();
        while let Some(element) = access.next_element()? {
            elements.push(element);
        }
        Ok(Node::List(elements))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Node, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = access.next_entry()? {
            entries.push(entry);
        }
        Ok(Node::Table(entries))
    }
}
