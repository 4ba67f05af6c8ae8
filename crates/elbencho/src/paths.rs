//! Paths of operands.

use super::grammar;
use candor_front::Refused;

/// Scheme of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// None is written.
    None,
    /// A path of this host: `file://`.
    File,
    /// A bucket or an object: `s3://`.
    S3,
}

/// The paths of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paths {
    /// Their scheme.
    pub scheme: Scheme,
    /// The paths without it.
    pub paths: Vec<String>,
}

/// The paths of a word: removes the scheme, and expands brackets unless `plain`.
///
/// # Errors
/// A bracket is wrong, or the scheme is unknown.
pub fn expand(word: &str, plain: bool) -> Result<Paths, Refused> {
    let (scheme, path) = match word.split_once("://") {
        Some(("file", path)) => (Scheme::File, path),
        Some(("s3", path)) => (Scheme::S3, path),
        Some(("hdfs", _)) => {
            let message = format!("`{word}` is no path of this host");
            let why = "candor has no client of hdfs; name files, directories or buckets";
            return Err(Refused::whole(word, message, why));
        }
        _ => (Scheme::None, word),
    };
    let paths = match (path, plain) {
        ("", _) => Vec::new(),
        (_, true) => vec![path.to_owned()],
        (_, false) => grammar::expand(path)?,
    };
    Ok(Paths { scheme, paths })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_name_several_paths() {
        let of = |word, plain| {
            let expanded = expand(word, plain).map(|paths| paths.paths);
            expanded.unwrap_or_else(|refused| vec![refused.message])
        };
        assert_eq!(of("/a", false), ["/a"]);
        assert_eq!(of("/a,b@c", false), ["/a,b@c"], "nothing but brackets separates");
        assert_eq!(of("file:///a[1,2]", false), ["/a1", "/a2"]);
        assert_eq!(of("/a[1-2]", true), ["/a[1-2]"]);
        assert_eq!(of("s3://b/o[1-2]", false), ["b/o1", "b/o2"]);
        assert_eq!(of("hdfs://a", false), ["`hdfs://a` is no path of this host"]);
    }
}
