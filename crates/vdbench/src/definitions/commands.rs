//! `startcmd=` and `endcmd=`: commands around runs.

use crate::values;
use candor_front::Refused;

/// Destination of a command's output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CommandOutput {
    /// `logfile.html`.
    #[default]
    Log,
    /// `summary.html`.
    Summary,
    /// Standard output.
    Console,
}

/// Commands for the shell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Commands {
    /// Command lines, in order; `$output` is the directory of the results.
    pub lines: Vec<String>,
    /// Destination of the output.
    pub output: CommandOutput,
}

/// Reads commands, and words for the destination of their output and the host.
///
/// # Errors
/// There is no command.
pub fn commands(text: &str) -> Result<Commands, Refused> {
    let mut commands = Commands::default();
    for item in values::items(text, false)? {
        match item.text.as_str() {
            word if word.starts_with("cons") => commands.output = CommandOutput::Console,
            word if word.starts_with("sum") => commands.output = CommandOutput::Summary,
            word if word.starts_with("log") => commands.output = CommandOutput::Log,
            // Master and slave are one program here.
            word if ["master", "slave"].contains(&word.to_ascii_lowercase().as_str()) => {}
            command => commands.lines.push(command.to_owned()),
        }
    }
    if commands.lines.is_empty() {
        Err(Refused::whole(text, format!("`{text}` names no command"), "give one"))
    } else {
        Ok(commands)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_and_where_their_output_goes() {
        let found = commands("(\"ls -l /x\",master,cons)").expect("commands");
        assert_eq!(
            (found.lines, found.output),
            (vec!["ls -l /x".to_owned()], CommandOutput::Console)
        );
        assert_eq!(commands("sync").expect("one").output, CommandOutput::Log);
        assert!(commands("(cons,slave)").is_err());
    }
}
