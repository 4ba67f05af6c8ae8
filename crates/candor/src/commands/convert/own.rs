//! Plans of candor's own, to be written in other words.

use std::ffi::OsString;
use std::path::Path;

use candor_files::Use;
use candor_plan::PathText;
use candor_plan::path_text::word_of;
use candor_plan::text;

use crate::commands::foreign::conversion::{Converted, Converter};
use crate::screen::Color;
use crate::{exit, screen};

/// The converter.
pub const CONVERTER: Converter = Converter { of_file, read };

/// The command line of a plan's file; none for another file.
fn of_file(file: &str, _: &str) -> Option<Vec<OsString>> {
    let is_plan = Path::new(file).extension().is_some_and(|end| end == "toml");
    is_plan.then(|| ["candor", file].map(word_of).into())
}

/// Reads the file that the words name.
fn read(argv: &[OsString], _: Option<&Path>) -> Result<Converted, u8> {
    let [_, file] = argv else {
        screen::error("a plan is named by its file alone, which ends in .toml");
        return Err(exit::USAGE);
    };
    let name = file.text();
    let used = candor_files::uses(Path::new(file), Use::Input).map_err(std::io::Error::from);
    let content = used.and_then(|()| std::fs::read_to_string(file)).map_err(|cause| {
        screen::error(&format!("cannot read {name}: {cause}"));
        exit::USAGE
    })?;
    match text::read(&name, &content) {
        Ok((plan, _)) => Ok(Converted { plan, comments: Vec::new() }),
        Err((problems, source)) => {
            screen::problems(&problems, &source, Color::Auto);
            Err(exit::USAGE)
        }
    }
}
