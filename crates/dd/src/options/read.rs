//! Reading of a command line.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use super::table::{TABLE, TRY_HELP};
use super::{Case, Charset, Options, Records, Request};
use crate::quoting;

/// An invalid command line: lines for stderr, each with the tool's name, and the last one without,
/// which may name the help.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// Warnings, and the error.
    pub sentences: Vec<String>,
    /// The line after these; may be empty.
    pub remedy: &'static str,
}

/// Reads a command line, the program's name first.
///
/// # Errors
/// The first error.
pub fn read(argv: &[OsString]) -> Result<Request, Mistake> {
    let words = argv.get(1..).unwrap_or_default();
    let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
    for word in &words[..end] {
        if let Some(option) = word.to_str().filter(|word| word.len() > 1 && word.starts_with('-')) {
            return by_option(option);
        }
    }
    let mut options = Options::default();
    let operands = words.iter().enumerate().filter(|(at, _)| *at != end);
    let all = operands.map(|(_, word)| word);
    match all
        .into_iter()
        .try_for_each(|word| operand(&mut options, word))
        .and_then(|()| finish(&mut options))
    {
        Ok(()) => Ok(Request::Copy(Box::new(options))),
        Err((message, remedy)) => {
            let sentences = options.warnings.into_iter().chain([message]).collect();
            Err(Mistake { sentences, remedy })
        }
    }
}

/// `--help` and `--version`, or abbreviations.
fn by_option(word: &str) -> Result<Request, Mistake> {
    let wrong = |message: String| Mistake { sentences: vec![message], remedy: TRY_HELP };
    let Some(name) = word.strip_prefix("--") else {
        let letter = word.chars().nth(1).unwrap_or_default();
        return Err(wrong(format!("invalid option -- '{letter}'")));
    };
    let (name, value) = name.split_once('=').map_or((name, None), |(n, v)| (n, Some(v)));
    let known = [("help", Request::Help), ("version", Request::Version)];
    let found = known.into_iter().find(|(known, _)| !name.is_empty() && known.starts_with(name));
    match (found, value) {
        (Some((_, request)), None) => Ok(request),
        (Some((known, _)), Some(_)) => {
            Err(wrong(format!("option '--{known}' doesn't allow an argument")))
        }
        (None, _) => Err(wrong(format!("unrecognized option '{word}'"))),
    }
}

/// Reads one operand. The error is a sentence and the line after it.
fn operand(options: &mut Options, word: &OsStr) -> Result<(), (String, &'static str)> {
    let bytes = word.as_bytes();
    let unknown = || (format!("unrecognized operand {}", quoting::always(word)), TRY_HELP);
    let at = bytes.iter().position(|byte| *byte == b'=').ok_or_else(unknown)?;
    let (name, value) = (&bytes[..at], OsStr::from_bytes(&bytes[at + 1..]));
    match name {
        b"if" => options.input = Some(value.to_owned()),
        b"of" => options.output = Some(value.to_owned()),
        _ => {
            let name = std::str::from_utf8(name).map_err(|_| unknown())?;
            let row = TABLE.find(name).ok_or_else(unknown)?;
            row.apply(options, Some(&value.to_string_lossy())).map_err(|refused| {
                let has_remedy = refused.remedy == TRY_HELP;
                (refused.message, if has_remedy { TRY_HELP } else { "" })
            })?;
        }
    }
    Ok(())
}

/// Combines operands. The error is a sentence and the line after it.
fn finish(options: &mut Options) -> Result<(), (String, &'static str)> {
    if let Some(block) = options.block {
        (options.input_block, options.output_block) = (block, block);
    }
    options.skip.in_bytes |= options.input_flags.has("skip_bytes");
    options.seek.in_bytes |= options.output_flags.has("seek_bytes");
    if let Some(count) = &mut options.count {
        count.in_bytes |= options.input_flags.has("count_bytes");
    }
    agree(options)?;
    if options.output_flags.has("append") && !options.has("notrunc") {
        let warning = "you probably want conv=notrunc with oflag=append";
        options.warnings.push(warning.to_owned());
    }
    Ok(())
}

/// Checks words that depend on each other. The error is a sentence and the line after it.
fn agree(options: &mut Options) -> Result<(), (String, &'static str)> {
    let conversions = options.conversions;
    if options.output_flags.has("fullblock") {
        return Err(("invalid output flag: 'fullblock'".to_owned(), TRY_HELP));
    }
    let wrong = |words: &str| Err((format!("cannot combine {words}"), ""));
    if conversions.count(&["ascii", "ebcdic", "ibm"]) > 1 {
        return wrong("any two of {ascii,ebcdic,ibm}");
    }
    let of = |word: &str| conversions.has(word);
    let charsets = [("ascii", Charset::Ascii), ("ebcdic", Charset::Ebcdic), ("ibm", Charset::Ibm)];
    options.charset = charsets.into_iter().find(|(word, _)| of(word)).map(|(_, charset)| charset);
    // Records need a size.
    if options.record_bytes.is_some() {
        let to_records = of("block") || of("ebcdic") || of("ibm");
        let to_lines = of("unblock") || of("ascii");
        options.records = match (to_records, to_lines) {
            (true, true) => return wrong("block and unblock"),
            (true, false) => Some(Records::Block),
            (false, true) => Some(Records::Unblock),
            (false, false) => None,
        };
    }
    options.case = match (of("lcase"), of("ucase")) {
        (true, true) => return wrong("lcase and ucase"),
        (true, false) => Some(Case::Lower),
        (false, true) => Some(Case::Upper),
        (false, false) => None,
    };
    if of("excl") && of("nocreat") {
        return wrong("excl and nocreat");
    }
    let both = |flags: super::Chosen| flags.has("direct") && flags.has("nocache");
    if both(options.input_flags) || both(options.output_flags) {
        wrong("direct and nocache")
    } else {
        Ok(())
    }
}
