//! File systems: `fsd=` and `fwd=`.

use super::{Lowered, Request};
use crate::kit::{Diagnostic, Diagnostics};
use crate::vdbench::runs::Run;

/// Makes phases of runs on file systems.
pub(super) fn lower(request: &Request<'_>, _: &[Run], _: &mut Lowered, out: &mut Diagnostics) {
    let file = request.file;
    let names = file.fsds.all.first().map(|fsd| &fsd.name);
    let Some(name) = names.or(file.fwds.all.first().map(|fwd| &fwd.name)) else { return };
    let message = "workloads on file systems (fsd=, fwd=) are not done yet".to_owned();
    let error = Diagnostic::new(name.at, "unsupported", &name.text, message);
    out.push(error.remedy("use sd= with lun=FILE, or `candor run` with entries"));
}
