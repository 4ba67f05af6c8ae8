//! Where each part of the plan was written.

use std::collections::BTreeMap;

use candor_plan::{PlanPath, Problem};

use super::{Diagnostic, GivenOption, Scope, Span, Texts};

/// Places in the user's texts by places in the plan.
#[derive(Clone, Debug, Default)]
pub struct Origins {
    places: BTreeMap<PlanPath, Span>,
    /// The options of each job: where name and value stand, and what they lower to first.
    options: Vec<([Span; 2], PlanPath)>,
}

impl Origins {
    /// Where a place of the plan, or the nearest that contains it, was written.
    pub fn at(&self, place: &PlanPath) -> Option<Span> {
        let mut place = place.clone();
        loop {
            if let Some(at) = self.places.get(&place) {
                return Some(*at);
            }
            place = place.parent()?;
        }
    }

    /// The places of the plan that the option with name or value at `file:line:column` lowers to:
    /// one for each job that has the option.
    pub fn of_option(&self, written: &str, texts: &Texts) -> Vec<PlanPath> {
        let here =
            |(at, _): &&([Span; 2], PlanPath)| at.iter().any(|at| texts.location(*at) == written);
        self.options.iter().filter(here).map(|(_, place)| place.clone()).collect()
    }

    /// A problem of the plan as a diagnostic in the user's words.
    pub fn diagnostic(&self, problem: &Problem) -> Diagnostic {
        let message = problem.message.clone();
        let diagnostic = match self.at(&problem.place) {
            Some(at) => Diagnostic::new(at, problem.rule, "", message),
            None => Diagnostic::nowhere(problem.rule, message),
        };
        // Remedies speak of keys of the plan, which nobody wrote.
        diagnostic
    }

    /// Enters where the options of a job were written, and gives the job's place.
    pub fn job<S: Scope>(&mut self, phase: usize, job: usize, from: &S) -> PlanPath {
        let phase = PlanPath::root().key("phase").index(phase);
        self.places.entry(phase.clone()).or_insert(from.at());
        let job = phase.key("job").index(job);
        self.places.insert(job.clone(), from.at());
        for (given, paths) in given(from) {
            self.option(given, paths.split(", ").filter_map(|path| in_job(&job, path)));
        }
        job
    }

    /// Enters where the targets of a job were written.
    pub fn targets<S: Scope>(&mut self, indices: &[usize], from: &S, job: &PlanPath) {
        for (nth, index) in indices.iter().enumerate() {
            let target = PlanPath::root().key("target").index(*index);
            self.places.insert(job.key("targets").index(nth), from.at());
            self.places.entry(target.clone()).or_insert(from.at());
            for (given, paths) in given(from) {
                let keys = paths.split(", ").filter_map(|path| path.strip_prefix("target."));
                self.option(given, keys.map(|key| target.key(key)));
            }
        }
    }

    fn option(&mut self, given: &GivenOption, places: impl Iterator<Item = PlanPath>) {
        for (nth, place) in places.enumerate() {
            if nth == 0 {
                self.options.push(([given.name_at, given.at], place.clone()));
            }
            self.places.entry(place).or_insert(given.at);
        }
    }
}

/// A path of the plan as a place in a job; none where it is elsewhere.
fn in_job(job: &PlanPath, path: &str) -> Option<PlanPath> {
    let (from, below) = match (path.strip_prefix("job."), path.split_once('.')?.0) {
        (Some(below), _) => (job.clone(), below),
        (None, "blocks" | "program" | "burn" | "entries") => (job.key("work"), path),
        (None, "stop") => (job.clone(), path),
        _ => return None,
    };
    Some(below.split('.').fold(from, |place, key| place.key(key)))
}

/// The options of a scope, each with the paths of the plan that it lowers to.
fn given<S: Scope>(from: &S) -> impl Iterator<Item = (&GivenOption, &'static str)> {
    let options = from.given().iter();
    options.map(|(name, given)| (given, S::TABLE.find(name).map_or("", |row| row.plan)))
}
