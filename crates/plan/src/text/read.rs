//! Reading TOML with all its problems at once.
//!
//! The text is parsed once, with recovery, into a tree of values and their ranges. The types read
//! the tree, and stop at the first value that does not fit: it becomes a [`Problem`], its entry is
//! struck out, and the rest is read again, until all fits. So one set of types defines the format,
//! and no problem hides another.

use toml::de::DeTable;

use crate::values::Mistake;
use crate::{Engine, PLAN_VERSION, Plan, PlanPath, Problem, Severity, Source};

use super::said::Complaint;
use super::syntax::Syntax;
use super::tree::{Odd, Tree};
use super::{PROBLEMS_MAX, TEXT_BYTES_MAX};

/// The plan in a TOML text, with the place of every value, or all problems of the text in its
/// order. `name` is the file's name.
///
/// The plan is well-formed, not yet sensible: [`crate::check::check`] comes next.
pub fn read(name: &str, text: &str) -> Result<(Plan, Source), (Vec<Problem>, Source)> {
    let source = Source { name: name.to_owned(), text: text.to_owned(), ..Source::default() };
    if text.len() > TEXT_BYTES_MAX {
        return Err((vec![too_long(text)], Source { text: String::new(), ..source }));
    }
    let (root, errors) = DeTable::parse_recoverable(text);
    Reader::new(source, Tree::new(root.get_ref()), errors).read()
}

struct Reader {
    source: Source,
    tree: Tree,
    syntax: Syntax,
    problems: Vec<Problem>,
}

impl Reader {
    fn new(mut source: Source, tree: Tree, errors: Vec<toml::de::Error>) -> Self {
        for (place, node) in tree.nodes() {
            source.spans.insert(place.clone(), node.value.clone());
        }
        let syntax = Syntax::new(errors, &mut source);
        Reader { source, tree, syntax, problems: Vec::new() }
    }

    fn read(mut self) -> Result<(Plan, Source), (Vec<Problem>, Source)> {
        if let Some(version) = self.tree.version().filter(|v| *v > u64::from(PLAN_VERSION)) {
            return Err((vec![super::too_new(version)], self.source));
        }
        let plan = self.deserialize();
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
        for Odd { place, sentence } in self.tree.odd().to_vec() {
            self.note(&place, Mistake::Refused(sentence.to_owned()));
        }
        while self.problems.len() < PROBLEMS_MAX {
            let misfit = match self.tree.plan() {
                Ok(plan) => return Some(plan),
                Err(misfit) => *misfit,
            };
            let place = misfit.place.as_ref().and_then(|place| Some(self.tree.find(place)?.0));
            let Some(place) = place else {
                self.problems.push(unplaced(&misfit.mistake));
                return None;
            };
            self.note(&place, misfit.mistake);
            self.tree.strike(place);
        }
        None
    }

    /// Records a mistake, unless it only repeats an earlier one.
    fn note(&mut self, place: &PlanPath, mistake: Mistake) {
        let Some(node) = self.tree.nodes().get(place) else { return };
        let found = self.source.text.get(node.value.clone()).unwrap_or_default();
        let complaint = Complaint { mistake, place, node, found };
        let echo = complaint.may_be_echo() && self.tree.struck_below(place);
        let range = match (&complaint.mistake, &node.key) {
            (Mistake::UnknownKey { .. }, Some(key)) => key.clone(),
            _ => node.value.clone(),
        };
        if echo || self.syntax.hides(range.start) {
            return;
        }
        self.problems.push(complaint.problem());
        self.source.spans.insert(place.clone(), range);
    }

    /// Errors of the readable rest, reported with the mistakes so that a second run reports nothing
    /// new.
    ///
    /// Only errors about values in the text count. An engine whose name could not be read may be
    /// any engine: errors that all engines have in common count.
    fn contradictions(&mut self, plan: &Plan) {
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

fn errors(plan: &Plan) -> Vec<Problem> {
    let problems = crate::check::check(plan).into_iter();
    problems.filter(|problem| problem.severity == Severity::Error).collect()
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

fn unplaced(mistake: &Mistake) -> Problem {
    let message = format!("the plan {mistake}");
    Problem::error("value", PlanPath::root(), message, "see the description of plans")
}
