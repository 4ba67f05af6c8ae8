//! `--showcmd`: job files as command lines.

use candor_plan::shell::quoted;

use super::ast::{Ast, Block};
use super::options::TABLE;

/// A line per job file: an equivalent command line.
pub fn lines(ast: &Ast) -> String {
    let (mut text, mut words) = (String::new(), vec!["fio".to_owned()]);
    let mut globals_done = 0;
    for section in &ast.sections {
        if section.begins_file {
            text.push_str(&format!("{}\n", words.join(" ")));
            words.truncate(1);
            globals_done = section.globals.start;
        }
        for block in &ast.globals[globals_done..section.globals.end] {
            // Before the first job options are defaults anyway.
            if words.len() > 1 {
                words.push("--name=global".to_owned());
            }
            words.extend(options(block).filter(|word| !word.starts_with("--name=global")));
        }
        globals_done = section.globals.end;
        words.push(quoted(&format!("--name={}", section.name.text)));
        words.extend(options(&section.own));
    }
    text + &format!("{}\n", words.join(" "))
}

fn options(block: &Block) -> impl Iterator<Item = String> {
    block.assignments.iter().map(|assignment| match &assignment.value {
        Some(value) => {
            let name = assignment.name.text.as_str();
            let row = TABLE.find(name);
            let value = row.map_or(value.text.as_str(), |row| row.shown(&value.text));
            quoted(&format!("--{name}={value}"))
        }
        None => quoted(&format!("--{}", assignment.name.text)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ast::{FioEnvironment, Keyword};
    use crate::read;
    use candor_front::Environment;

    struct OneFile(&'static str);

    impl Environment for OneFile {
        fn file(&mut self, _: &str) -> std::io::Result<Vec<u8>> {
            Ok(self.0.as_bytes().to_vec())
        }

        fn variable(&self, _: &str) -> Option<String> {
            None
        }
    }

    impl FioEnvironment for OneFile {
        fn keyword(&self, _: Keyword) -> u64 {
            1
        }
    }

    #[test]
    fn a_job_file_becomes_a_command_line_that_means_the_same() {
        let text = "[global]\nbs=8k\nrw=read\n[a b]\ntime_based\ndescription=it's\n\
                    [global]\nsize=1m\n[c]\n";
        let words = |argv: &[&str]| {
            let argv: Vec<_> = argv.iter().map(std::ffi::OsString::from).collect();
            read(&argv, &mut OneFile(text)).0
        };
        let first = "fio --bs=8k --rw=read '--name=a b' --time_based '--description=it'\\''s' \
                     --name=global --size=1m --name=c";
        assert_eq!(lines(&words(&["fio", "x"])), format!("{first}\n"));
        assert_eq!(lines(&words(&["fio", "x", "x"])), format!("{first}\n{first}\n"));
        assert_eq!(lines(&words(&["fio"])), "fio\n");
    }
}
