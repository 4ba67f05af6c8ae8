//! Reading TOML with all its problems at once.
//!
//! The text is parsed once, with recovery, into a tree that knows where everything stands. The
//! tree is handed to serde. Serde stops at the first value that it does not like: that becomes a
//! [`Problem`], its entry is struck out of the tree, and what is left is handed over again, until
//! serde is content. So one set of types defines the format, and no problem hides another.

use serde::Deserialize;
use toml::de::DeTable;

use crate::{Engine, PLAN_VERSION, Plan, PlanPath, Problem, Severity, Source};

use super::said::Complaint;
use super::syntax::Syntax;
use super::tree::{Node, Tree};
use super::{PROBLEMS_MAX, TEXT_BYTES_MAX};

/// The plan in a TOML text, with the place of every value, or everything that is wrong with the
/// text in the order in which it stands there. `name` is the file's name.
///
/// The plan is well-formed, not yet sensible: [`crate::check::check`] comes next.
pub fn read(name: &str, text: &str) -> Result<(Plan, Source), (Vec<Problem>, Source)> {
    let source = Source { name: name.to_owned(), text: text.to_owned(), ..Source::default() };
    if text.len() > TEXT_BYTES_MAX {
        return Err((vec![too_long(text)], Source { text: String::new(), ..source }));
    }
    let (root, errors) = DeTable::parse_recoverable(text);
    Reader::new(source, Tree::new(root.into_inner()), errors).read()
}

struct Reader<'t> {
    source: Source,
    tree: Tree<'t>,
    syntax: Syntax,
    problems: Vec<Problem>,
}

impl<'t> Reader<'t> {
    fn new(mut source: Source, tree: Tree<'t>, errors: Vec<toml::de::Error>) -> Self {
        for node in tree.nodes() {
            source.spans.insert(node.place.clone(), node.value.clone());
        }
        let syntax = Syntax::new(errors, &mut source);
        Reader { source, tree, syntax, problems: Vec::new() }
    }

    fn read(mut self) -> Result<(Plan, Source), (Vec<Problem>, Source)> {
        if let Some(version) = self.tree.version().filter(|v| *v > u64::from(PLAN_VERSION)) {
            return Err((vec![super::too_new(version)], self.source));
        }
        let plan = self.deserialize();
        if let Some(plan) = plan.as_ref().filter(|_| self.problems.is_empty()) {
            self.lists_for_tables(plan);
        }
        self.problems.append(&mut self.syntax.problems);
        if let Some(plan) = plan.as_ref().filter(|_| !self.problems.is_empty()) {
            self.contradictions(plan);
        }
        match plan {
            Some(plan) if self.problems.is_empty() => Ok((plan, self.source)),
            _ => Err((self.sorted(), self.source)),
        }
    }

    /// Strikes out entries until the rest is a plan. Each round removes one, so it comes to an
    /// end.
    fn deserialize(&mut self) -> Option<Plan> {
        while self.problems.len() < PROBLEMS_MAX {
            let rest = toml::Deserializer::from(self.tree.rest());
            let error = match Plan::deserialize(rest) {
                Ok(plan) => return Some(plan),
                Err(error) => error,
            };
            let node = error.span().and_then(|span| self.tree.find(&span).cloned());
            let Some(node) = node else {
                self.problems.push(unplaced(error.message()));
                return None;
            };
            self.note(&error, &node);
            self.tree.strike(node.place);
        }
        None
    }

    /// Records a complaint, unless it only repeats an earlier one.
    fn note(&mut self, error: &toml::de::Error, node: &Node) {
        let about_key =
            node.key.is_some() && node.key == error.span() && node.key != Some(node.value.clone());
        let found = self.source.text.get(node.value.clone()).unwrap_or_default();
        let complaint = Complaint { message: error.message(), node, about_key, found };
        let echo = complaint.may_be_echo() && self.tree.struck_below(&node.place);
        let range = match (about_key, &node.key) {
            (true, Some(key)) => key.clone(),
            _ => node.value.clone(),
        };
        if echo || self.syntax.hides(range.start) {
            return;
        }
        self.problems.push(complaint.problem());
        self.source.spans.insert(node.place.clone(), range);
    }

    /// Serde takes a list for a table and its elements for the fields in their order. Nobody means
    /// that in a file.
    fn lists_for_tables(&mut self, plan: &Plan) {
        let values = super::write::tree(plan);
        for node in self.tree.nodes().iter().filter(|node| node.kind == Some("a list")) {
            if super::write::at(&values, &node.place).is_some_and(serde_json::Value::is_object) {
                self.problems.push(super::said::list_for_table(&node.place));
            }
        }
    }

    /// Errors of what could be read, told with the mistakes so that a second run tells nothing new.
    ///
    /// Only those about a value that stands in the text count. An engine whose name could not be
    /// read may be any; what would be wrong with all of them is wrong.
    fn contradictions(&mut self, plan: &Plan) {
        let errors = |plan: &Plan| -> Vec<Problem> {
            let problems = crate::check::check(plan).into_iter();
            problems.filter(|problem| problem.severity == Severity::Error).collect()
        };
        let mut found = errors(plan);
        if self.tree.has_struck_key("engine") {
            for engine in Engine::ALL {
                let others = errors(&with_engine(plan, engine));
                found.retain(|problem| others.contains(problem));
            }
        }
        found.retain(|problem| self.source.spans.contains_key(&problem.place));
        found.retain(|problem| !self.tree.struck_below(&problem.place));
        self.problems.append(&mut found);
    }

    /// The problems by position.
    fn sorted(&mut self) -> Vec<Problem> {
        let mut problems = std::mem::take(&mut self.problems);
        problems.sort_by_key(|p| self.source.span(&p.place).map_or(0, |span| span.start));
        problems.truncate(PROBLEMS_MAX);
        problems
    }
}

fn with_engine(plan: &Plan, engine: Engine) -> Plan {
    let mut plan = plan.clone();
    let jobs = plan.phases.iter_mut().flat_map(|phase| &mut phase.jobs);
    jobs.filter_map(crate::Job::blocks_mut).for_each(|blocks| blocks.engine = engine);
    plan
}

fn too_long(text: &str) -> Problem {
    Problem::error(
        "text-limit",
        PlanPath::root(),
        format!("the text has {} bytes; at most {TEXT_BYTES_MAX} are read", text.len()),
        "is this really a plan?",
    )
}

fn unplaced(message: &str) -> Problem {
    Problem::error("value", PlanPath::root(), message, "see the description of plans")
}
