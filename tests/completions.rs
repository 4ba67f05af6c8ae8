//! Completions where users meet them: in a shell that found the script at the place that the guide
//! names. bash, which every machine has, is asked by the unit tests of `candor completions`.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::support::{Scratch, candor, skip};

/// Text typed before the Tab key, and the line that stands there after it.
const TYPED: [(&str, &str); 9] = [
    ("candor che", "candor check"),
    ("candor run --dep", "candor run --depth"),
    ("candor check --secon", "candor check --seconds"),
    ("candor run --layout al", "candor run --layout allocate"),
    ("candor show --require ca", "candor show --require caution"),
    ("candor completions f", "candor completions fish"),
    ("candor run --engine liba", "candor run --engine libaio"),
    ("candor check --csv-of ove", "candor check --csv-of overview"),
    ("candor scenario run mai", "candor scenario run mail"),
];

/// Keeps the script for a shell.
fn install(shell: &str, file: &str) {
    let script = candor(&["completions", shell]);
    assert_eq!((script.code, script.err.as_str()), (Some(0), ""));
    let directory = Path::new(file).parent().expect("a directory");
    fs::create_dir_all(directory).and_then(|()| fs::write(file, script.out)).expect("written");
}

/// Runs a shell whose settings are those of nobody; none where it is not installed.
fn shell(program: &str, home: &str, words: &[&str]) -> Option<Output> {
    let mut command = Command::new(program);
    // fish looks for scripts of programs that it finds.
    let folder = Path::new(env!("CARGO_BIN_EXE_candor")).parent().expect("a folder").display();
    let path = format!("{folder}:{}", std::env::var("PATH").unwrap_or_default());
    command.args(words).env("PATH", path).env("HOME", home).env("TERM", "dumb");
    for name in ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "ZDOTDIR"] {
        command.env_remove(name);
    }
    let ran = command.output().ok();
    if ran.is_none() {
        skip(&format!("it needs {program}"));
    }
    ran
}

#[test]
fn fish_completes() {
    let scratch = Scratch::new();
    let home = scratch.dir();
    install("fish", &format!("{home}/.config/fish/completions/candor.fish"));
    for (typed, expected) in TYPED {
        let ask = format!("complete -C '{typed}'");
        let Some(ran) = shell("fish", &home, &["-c", &ask]) else { return };
        assert!(ran.stderr.is_empty(), "{}", String::from_utf8_lossy(&ran.stderr));
        let offered = String::from_utf8_lossy(&ran.stdout).into_owned();
        // The word alone is replaced, and its help stands behind it.
        let words: Vec<_> = offered.lines().filter_map(|line| line.split('\t').next()).collect();
        assert_eq!(words, [expected.rsplit(' ').next().unwrap_or_default()], "{typed}");
    }
}

/// Starts a zsh in a terminal of its own, types the line, a Tab and a line break, and waits for the
/// command that this zsh would run.
const TYPE_IN_ZSH: &str = r#"
zmodload zsh/zpty || exit 9
zpty typing zsh -f -i
zpty -w typing "PS1=; fpath=(~/.zfunc \$fpath); autoload -Uz compinit; compinit -u -d ~/dump"
zpty -w typing "candor() { print -r -- candor \"\$*\" > ~/ran.new; mv ~/ran.new ~/ran }; print re\"\"ady"
zpty -r -m typing line '*ready*'
zpty -w -n typing "$1"$'\t'$'\n'
for try in {1..500}; do [[ -e ~/ran ]] && break; sleep 0.02; done
zpty -d typing
"#;

#[test]
fn zsh_completes() {
    let scratch = Scratch::new();
    let home = scratch.dir();
    install("zsh", &format!("{home}/.zfunc/_candor"));
    for (typed, expected) in TYPED {
        let Some(ran) = shell("zsh", &home, &["-f", "-c", TYPE_IN_ZSH, "zsh", typed]) else {
            return;
        };
        if ran.status.code() == Some(9) {
            return skip("it needs zsh with its module zpty");
        }
        let file = format!("{home}/ran");
        let line = fs::read_to_string(&file).unwrap_or_default();
        assert_eq!(line.trim_end(), expected, "{}", String::from_utf8_lossy(&ran.stderr));
        fs::remove_file(&file).expect("it was there");
    }
}
