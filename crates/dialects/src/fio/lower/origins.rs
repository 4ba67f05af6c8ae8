//! Where each part of the plan was written.

use std::collections::BTreeMap;

use candor_plan::{Place, Problem};

use super::Instance;
use crate::fio::options;
use crate::fio::words::{At, Mistake, Texts};

/// Places in the user's texts by places in the plan.
#[derive(Clone, Debug, Default)]
pub struct Origins {
    places: BTreeMap<Place, At>,
}

impl Origins {
    /// Where a place of the plan, or the nearest that contains it, was written.
    pub fn at(&self, place: &Place) -> Option<At> {
        let mut place = place.clone();
        loop {
            if let Some(at) = self.places.get(&place) {
                return Some(*at);
            }
            place = place.parent()?;
        }
    }

    /// `file:line:column` of a place of the plan.
    pub fn place(&self, place: &Place, texts: &Texts) -> Option<String> {
        self.at(place).map(|at| texts.place(at))
    }

    /// A problem of the plan as a mistake in the user's words.
    pub fn mistake(&self, problem: &Problem) -> Mistake {
        let message = problem.message.clone();
        let mistake = match self.at(&problem.place) {
            Some(at) => Mistake::new(at, problem.rule, "", message),
            None => Mistake::nowhere(problem.rule, message),
        };
        // Remedies speak of keys of the plan, which nobody wrote.
        mistake
    }

    /// Enters where the options of a job were written, and gives the job's place.
    pub(super) fn job(&mut self, phase: usize, job: usize, from: &Instance<'_>) -> Place {
        let phase = Place::root().key("phase").index(phase);
        self.places.entry(phase.clone()).or_insert(from.at);
        let job = phase.key("job").index(job);
        self.places.insert(job.clone(), from.at);
        for (path, at) in given(from) {
            let below = match path.strip_prefix("job.") {
                Some(below) => below,
                None if path.starts_with("blocks.") || path.starts_with("stop.") => path,
                None => continue,
            };
            let place = below.split('.').fold(job.clone(), |place, key| place.key(key));
            self.places.insert(place, at);
        }
        job
    }

    /// Enters where the targets of a job were written.
    pub(super) fn targets(&mut self, indices: &[usize], from: &Instance<'_>, job: &Place) {
        for (nth, index) in indices.iter().enumerate() {
            let target = Place::root().key("target").index(*index);
            self.places.insert(job.key("targets").index(nth), from.at);
            self.places.entry(target.clone()).or_insert(from.at);
            for (path, at) in given(from) {
                if let Some(key) = path.strip_prefix("target.") {
                    self.places.entry(target.key(key)).or_insert(at);
                }
            }
        }
    }
}

/// The paths of the plan that an instance's options lower to, with where those were written.
fn given<'a>(from: &'a Instance<'_>) -> impl Iterator<Item = (&'static str, At)> + 'a {
    from.settings.given.iter().flat_map(|(name, given)| {
        let paths = options::find(name).map_or("", |row| row.plan);
        paths.split(", ").map(|path| (path, given.at))
    })
}
