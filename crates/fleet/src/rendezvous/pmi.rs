//! The first version of PMI, in its own words: lines of text over a socket that the launcher has
//! opened. MPICH's launcher and Slurm's PMI-2 speak it.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::fd::BorrowedFd;

/// Gives a text to all processes of the launcher, and takes theirs by rank.
pub fn exchange(rank: u32, size: u32, text: &str) -> Result<Vec<String>, String> {
    let descriptor: i32 = std::env::var("PMI_FD")
        .ok()
        .and_then(|number| number.parse().ok())
        .filter(|number| *number > 2)
        .ok_or("PMI_FD is no descriptor")?;
    // SAFETY: the launcher has opened it for this process and says so in PMI_FD; it stays open for
    // the call, for nobody else here closes what they have not opened.
    let borrowed = unsafe { BorrowedFd::borrow_raw(descriptor) };
    let socket = borrowed.try_clone_to_owned().map(File::from);
    let socket = socket.map_err(|why| why.to_string())?;
    let reader = socket.try_clone().map_err(|why| why.to_string())?;
    talk(&mut Wire { reader: BufReader::new(reader), writer: socket }, rank, size, text)
}

/// Both directions to the launcher.
struct Wire<R, W> {
    reader: R,
    writer: W,
}

impl<R: BufRead, W: Write> Wire<R, W> {
    /// Sends a command and takes its answer, which must be of that kind.
    fn ask(&mut self, command: &str, answer: &str) -> Result<HashMap<String, String>, String> {
        let sent = self.writer.write_all(format!("cmd={command}\n").as_bytes());
        sent.map_err(|why| why.to_string())?;
        let mut line = String::new();
        self.reader.read_line(&mut line).map_err(|why| why.to_string())?;
        let pairs = line.split_whitespace().filter_map(|word| word.split_once('='));
        let fields: HashMap<String, String> =
            pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
        let is_well = fields.get("rc").is_none_or(|code| code == "0");
        if fields.get("cmd").is_some_and(|kind| kind == answer) && is_well {
            Ok(fields)
        } else {
            Err(format!("`{command}` was answered by `{}`", line.trim()))
        }
    }
}

fn talk<R: BufRead, W: Write>(
    wire: &mut Wire<R, W>,
    rank: u32,
    size: u32,
    text: &str,
) -> Result<Vec<String>, String> {
    wire.ask("init pmi_version=1 pmi_subversion=1", "response_to_init")?;
    let mut space = wire.ask("get_my_kvsname", "my_kvsname")?;
    let space = space.remove("kvsname").ok_or("it names no key space")?;
    // A value has no spaces.
    let value = if text.is_empty() { "-" } else { text };
    wire.ask(&format!("put kvsname={space} key=candor-{rank} value={value}"), "put_result")?;
    wire.ask("barrier_in", "barrier_out")?;
    let mut texts = Vec::new();
    for other in 0..size {
        let command = format!("get kvsname={space} key=candor-{other}");
        let mut got = wire.ask(&command, "get_result")?;
        let value = got.remove("value").unwrap_or_default();
        texts.push(if value == "-" { String::new() } else { value });
    }
    wire.ask("finalize", "finalize_ack")?;
    Ok(texts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_put_and_got_behind_a_barrier() {
        let answers = "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n\
                       cmd=my_kvsname kvsname=kvs_7\ncmd=put_result rc=0 msg=success\n\
                       cmd=barrier_out\ncmd=get_result rc=0 value=a:1\n\
                       cmd=get_result rc=0 value=-\ncmd=finalize_ack\n";
        let mut sent = Vec::new();
        let mut wire = Wire { reader: answers.as_bytes(), writer: &mut sent };
        let texts = talk(&mut wire, 0, 2, "a:1").expect("an orderly talk");
        assert_eq!(texts, ["a:1", ""]);
        let sent = String::from_utf8(sent).expect("text");
        assert!(sent.contains("cmd=put kvsname=kvs_7 key=candor-0 value=a:1\ncmd=barrier_in\n"));
        let mut refused = Wire { reader: &b"cmd=response_to_init rc=-1\n"[..], writer: Vec::new() };
        let why = talk(&mut refused, 0, 1, "x").expect_err("refused");
        assert!(why.contains("response_to_init rc=-1"), "{why}");
        let mut gone = Wire { reader: &b""[..], writer: Vec::new() };
        assert!(talk(&mut gone, 0, 1, "x").is_err());
    }
}
