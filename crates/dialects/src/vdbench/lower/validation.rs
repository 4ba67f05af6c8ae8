//! Data validation: `validate=`, `journal=`, and `-v` and `-j` of the command line.

use super::{Lowered, Request};
use crate::kit::{Diagnostic, Diagnostics};

/// Has runs write keys into blocks and compare them.
pub(super) fn lower(request: &Request<'_>, _: &mut Lowered, out: &mut Diagnostics) {
    let general = request.file.general();
    let asked = [
        ("validate", general.options.validation.is_on),
        ("journal", general.options.journal.is_on),
    ];
    for (parameter, _) in asked.into_iter().filter(|(_, is_on)| *is_on) {
        out.refuse(&general.in_texts(request.texts), parameter, "data validation is not done yet");
    }
    if let Some((at, _)) = &request.asked.validation {
        let message = "data validation is not done yet".to_owned();
        out.push(Diagnostic::new(*at, "unsupported", "", message).remedy("remove it"));
    }
}
