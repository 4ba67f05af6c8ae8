//! Number of ranks of tools that MPI launches, which candor takes from its own words instead.

use std::ffi::OsString;

use super::{Diagnostic, Environment};

/// Environment variable with the number of ranks.
pub const VARIABLE: &str = "CANDOR_RANKS";

/// Flag with the number of ranks, in front of the tool's own words.
pub const FLAG: &str = "--ranks";

/// Most ranks of one host, as many as a plan has workers: each is a thread.
pub const RANKS_MAX: u32 = 4096;

/// True where the words say the number of ranks.
pub fn is_given(argv: &[OsString]) -> bool {
    argv.get(1).and_then(|word| word.to_str()).is_some_and(|word| {
        word.strip_prefix(FLAG).is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
    })
}

/// Takes `--ranks N` out of the words behind the program's name; without it, the environment
/// says the number, and without that there is one rank.
///
/// # Errors
/// The number is no number from 1 to [`RANKS_MAX`].
pub fn take(
    argv: &mut Vec<OsString>,
    environment: &dyn Environment,
) -> Result<u32, Box<Diagnostic>> {
    let word = argv.get(1).and_then(|word| word.to_str()).map(str::to_owned);
    let behind_equals = word.as_deref().and_then(|word| word.strip_prefix(FLAG)?.strip_prefix('='));
    if let Some(number) = behind_equals {
        argv.remove(1);
        return read(FLAG, number);
    }
    if word.as_deref() == Some(FLAG) {
        argv.remove(1);
        let number = if argv.len() > 1 { argv.remove(1) } else { OsString::new() };
        return read(FLAG, &number.to_string_lossy());
    }
    match environment.variable(VARIABLE).filter(|number| !number.is_empty()) {
        Some(number) => read(VARIABLE, &number),
        None => Ok(1),
    }
}

fn read(from: &str, number: &str) -> Result<u32, Box<Diagnostic>> {
    let ranks = number.parse().ok().filter(|ranks| (1..=RANKS_MAX).contains(ranks));
    ranks.ok_or_else(|| {
        let message = format!("{from} is `{number}`, which is no number of ranks");
        Box::new(Diagnostic::nowhere("ranks", message).remedy(format!("give 1 to {RANKS_MAX}")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::Surroundings;

    fn taken(words: &[&str], variable: Option<&'static str>) -> (Result<u32, String>, Vec<String>) {
        let mut argv: Vec<OsString> = words.iter().map(Into::into).collect();
        let variables: Vec<_> = variable.into_iter().map(|value| (VARIABLE, value)).collect();
        let surroundings = Surroundings { variables: &variables, ..Surroundings::default() };
        let ranks = take(&mut argv, &surroundings).map_err(|wrong| wrong.message);
        (ranks, argv.into_iter().map(|word| word.to_string_lossy().into_owned()).collect())
    }

    #[test]
    fn words_come_before_the_environment() {
        let rest = vec!["ior".to_owned(), "-w".to_owned()];
        assert_eq!(taken(&["ior", "--ranks", "4", "-w"], Some("2")), (Ok(4), rest.clone()));
        assert_eq!(taken(&["ior", "--ranks=8", "-w"], None), (Ok(8), rest.clone()));
        assert_eq!(taken(&["ior", "-w"], Some("2")), (Ok(2), rest.clone()));
        assert_eq!(taken(&["ior", "-w"], Some("")), (Ok(1), rest));
        assert_eq!(taken(&["ior"], None).0, Ok(1));
    }

    #[test]
    fn numbers_that_are_none_are_refused() {
        for words in [&["ior", "--ranks"][..], &["ior", "--ranks", "0"], &["ior", "--ranks=x"]] {
            let wrong = taken(words, None).0.expect_err("no number");
            assert!(wrong.starts_with("--ranks is `"), "{wrong}");
        }
        assert!(taken(&["ior"], Some("-3")).0.is_err_and(|wrong| wrong.contains(VARIABLE)));
    }
}
