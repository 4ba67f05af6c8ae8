//! Threads are started by `thread::Builder`: `thread::spawn` and `Scope::spawn` panic where the
//! kernel gives none.

use super::{Breach, Source};

/// Ends of calls that panic.
const PANICKING: &[&str] = &["thread::spawn(", "scope.spawn(", "threads.spawn("];

/// Starts of threads that panic, outside of tests.
pub fn check(sources: &[Source]) -> Vec<Breach> {
    let mut breaches = Vec::new();
    for source in sources.iter().filter(|source| is_shipped(source)) {
        let code = source.layers.code.lines().enumerate();
        // Tests stand last in a file.
        for (i, line) in code.take_while(|(_, line)| !line.starts_with("#[cfg(test)]")) {
            if PANICKING.iter().any(|call| line.contains(call)) {
                let sentence = "the start of a thread panics without one: use thread::Builder";
                breaches.push(source.breach(i + 1, sentence));
            }
        }
    }
    breaches
}

/// Files of the program itself.
fn is_shipped(source: &Source) -> bool {
    let is_test = source.path.ends_with("/tests.rs") || source.path.contains("/tests/");
    source.is_rust() && source.path.starts_with("crates/") && !is_test
}

#[cfg(test)]
mod tests {
    use super::*;

    fn breaches(path: &str, text: &str) -> usize {
        check(&[Source::new(path, text)]).len()
    }

    #[test]
    fn starts_that_panic_are_found() {
        let text = "fn f() { std::thread::spawn(|| {}); scope.spawn(|| {}); }\n\
                    fn g() { scope.spawn(|| {}); }\n";
        assert_eq!(breaches("crates/run/src/a.rs", text), 2);
    }

    #[test]
    fn builders_and_tests_are_not() {
        let text = "fn f() { thread::Builder::new().spawn(|| {}) }\n// thread::spawn(\n\
                    #[cfg(test)]\nmod tests { fn g() { thread::spawn(|| {}); } }\n";
        assert_eq!(breaches("crates/run/src/a.rs", text), 0);
        for path in ["crates/run/src/a/tests.rs", "crates/run/tests/a.rs", "tests/a.rs"] {
            assert_eq!(breaches(path, "fn f() { thread::spawn(|| {}); }"), 0, "{path}");
        }
    }
}
