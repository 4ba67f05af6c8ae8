//! The command line of iostat.

/// What the words ask for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Only, or also, the time of the CPUs (`-c`).
    pub cpu: bool,
    /// Only, or also, the devices (`-d`).
    pub devices: bool,
    /// Extended figures (`-x`).
    pub extended: bool,
    /// Fewer columns (`-s`).
    pub short: bool,
    /// Unit of amounts of data (`-k`, `-m`).
    pub unit: Unit,
    /// Amounts with a unit of their own (`--human`).
    pub human: bool,
    /// Names at the end of lines, directions in blocks of their own (`--pretty`).
    pub pretty: bool,
    /// All columns on one line even so (`--compact`).
    pub compact: bool,
    /// Decimals (`--dec`).
    pub decimals: usize,
    /// JSON instead of text (`-o JSON`).
    pub json: bool,
    /// Leave out devices that did nothing (`-z`).
    pub skip_idle: bool,
    /// Leave out the report since boot (`-y`).
    pub skip_first: bool,
    /// Tell the time of each report (`-t`).
    pub timestamp: bool,
    /// Names of the device mapper (`-N`).
    pub mapped_names: bool,
    /// Groups without their members (`-H`).
    pub groups_only: bool,
    /// Devices and groups in the order they were given.
    pub entries: Vec<Entry>,
    /// Which partitions (`-p`).
    pub partitions: Partitions,
    /// Seconds between reports; one report where there is none.
    pub interval_s: Option<u64>,
    /// How many reports; until interrupted where there is none.
    pub count: Option<u64>,
}

/// A word that names devices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A device, without `/dev/`.
    Device(String),
    /// A device with its partitions (`-p DEVICE`).
    WithPartitions(String),
    /// A group of the devices that follow (`-g`).
    Group(String),
    /// All devices, also those that never did anything (`ALL`).
    All,
}

/// Which partitions are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Partitions {
    /// Those that were named.
    #[default]
    Named,
    /// Those of all devices that did anything (`-p` alone).
    Used,
    /// Those of all devices (`-p ALL`).
    All,
}

/// Unit of amounts of data. What iostat calls kB and MB has powers of 1024.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unit {
    /// 512 bytes.
    Sector,
    /// 1024 bytes.
    #[default]
    Kilo,
    /// 1024 × 1024 bytes.
    Mega,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    /// Reports.
    Reports(Box<Options>),
    /// The version (`-V`).
    Version,
}

/// Below a complaint.
pub const USAGE: &str = "\
usage: iostat [-c] [-d] [-x] [-s] [-k | -m] [-t] [-y] [-z] [-N] [-h] [--human] [--pretty]
              [--compact] [--dec=0|1|2] [-o JSON] [-p [DEVICE,… | ALL]] [[-H] -g GROUP]
              [DEVICE… | ALL] [INTERVAL [COUNT]]
";

impl Default for Options {
    fn default() -> Self {
        Options {
            cpu: false,
            devices: false,
            extended: false,
            short: false,
            unit: Unit::Kilo,
            human: false,
            pretty: false,
            compact: false,
            decimals: 2,
            json: false,
            skip_idle: false,
            skip_first: false,
            timestamp: false,
            mapped_names: false,
            groups_only: false,
            entries: Vec::new(),
            partitions: Partitions::Named,
            interval_s: None,
            count: None,
        }
    }
}

/// Reads the words after the name of the program. `posix` says that the environment asks for
/// sectors of 512 bytes (`POSIXLY_CORRECT`).
///
/// # Errors
/// A sentence that names the word.
pub fn read(words: &[String], posix: bool) -> Result<Asked, String> {
    let mut reader = Reader { options: Options::default(), units: Vec::new(), numbers: Vec::new() };
    let mut words = words.iter().map(String::as_str).peekable();
    while let Some(word) = words.next() {
        // The words that take another word, where they stand alone or at the end of letters.
        let value = match word.starts_with('-') && !word.starts_with("--") {
            true => match word.chars().last() {
                Some('o' | 'g') => Value::Needed(words.next()),
                Some('p') if word == "-p" => {
                    Value::Needed(words.next_if(|next| !next.starts_with('-')))
                }
                Some('j' | 'f') => Value::Needed(words.next()),
                _ => Value::None,
            },
            false => Value::None,
        };
        match word {
            "-V" => return Ok(Asked::Version),
            "--help" => return Err("what follows is what can be asked for".to_owned()),
            _ if word.starts_with("--") => reader.long(word)?,
            "+f" => return Err(ELSEWHERE.to_owned()),
            _ if word.len() > 1 && word.starts_with('-') => reader.letters(word, value)?,
            _ => reader.word(word)?,
        }
    }
    reader.finish(posix).map(|options| Asked::Reports(Box::new(options)))
}

const ELSEWHERE: &str = "`-f` and `+f` are not done: candor reads the kernel's own counters only";

/// The word after an option.
#[derive(Clone, Copy)]
enum Value<'a> {
    None,
    Needed(Option<&'a str>),
}

struct Reader {
    options: Options,
    units: Vec<Unit>,
    numbers: Vec<u64>,
}

impl Reader {
    fn long(&mut self, word: &str) -> Result<(), String> {
        let options = &mut self.options;
        match word {
            "--human" => options.human = true,
            "--pretty" => options.pretty = true,
            "--compact" => options.compact = true,
            "--dec=0" => options.decimals = 0,
            "--dec=1" => options.decimals = 1,
            "--dec=2" => options.decimals = 2,
            _ if word.starts_with("--dec") => {
                return Err(format!("`{word}`: decimals are --dec=0, --dec=1 or --dec=2"));
            }
            _ => return Err(format!("`{word}` is no option of iostat")),
        }
        Ok(())
    }

    /// Letters behind one dash; only the last takes a value.
    fn letters(&mut self, word: &str, value: Value) -> Result<(), String> {
        let letters: Vec<char> = word.chars().skip(1).collect();
        for (at, letter) in letters.iter().enumerate() {
            let takes_value = "ogjf".contains(*letter) || word == "-p";
            if takes_value && at + 1 < letters.len() {
                return Err(format!("`{word}`: -{letter} must be the last of its letters"));
            }
            match (takes_value, value) {
                (true, Value::Needed(value)) => self.with_value(*letter, value)?,
                _ => self.letter(*letter, word)?,
            }
        }
        Ok(())
    }

    fn letter(&mut self, letter: char, word: &str) -> Result<(), String> {
        let options = &mut self.options;
        match letter {
            'c' => options.cpu = true,
            'd' => options.devices = true,
            'x' => options.extended = true,
            's' => options.short = true,
            'k' => self.units.push(Unit::Kilo),
            'm' => self.units.push(Unit::Mega),
            't' => options.timestamp = true,
            'y' => options.skip_first = true,
            'z' => options.skip_idle = true,
            'N' => options.mapped_names = true,
            // Among other letters it takes no device.
            'p' => self.widen(Partitions::Used),
            'H' => options.groups_only = true,
            'h' => (options.human, options.pretty) = (true, true),
            _ => return Err(format!("`{word}`: -{letter} is no option of iostat")),
        }
        Ok(())
    }

    fn with_value(&mut self, letter: char, value: Option<&str>) -> Result<(), String> {
        match (letter, value) {
            ('o', Some("JSON")) => self.options.json = true,
            ('o', Some(other)) => {
                return Err(format!("`-o {other}`: the only format is JSON, in capitals"));
            }
            ('o', None) => return Err("`-o` needs the word JSON".to_owned()),
            ('g', Some(name)) => self.options.entries.push(Entry::Group(name.to_owned())),
            ('g', None) => return Err("`-g` needs the name of a group".to_owned()),
            ('p', None) => self.widen(Partitions::Used),
            ('p', Some("ALL")) => self.widen(Partitions::All),
            // A number behind `-p` is the interval, as it is everywhere else.
            ('p', Some(number)) if is_number(number) => {
                self.widen(Partitions::Used);
                self.word(number)?;
            }
            ('p', Some(names)) => {
                for name in names.split(',').filter(|name| !name.is_empty()) {
                    self.options.entries.push(Entry::WithPartitions(device(name)));
                }
            }
            ('j', _) => {
                return Err("`-j` is not done: names are those of the kernel, or with -N those \
                            of the device mapper"
                    .to_owned());
            }
            _ => return Err(ELSEWHERE.to_owned()),
        }
        Ok(())
    }

    fn widen(&mut self, partitions: Partitions) {
        if self.options.partitions != Partitions::All {
            self.options.partitions = partitions;
        }
    }

    /// A device, the interval or the count.
    fn word(&mut self, word: &str) -> Result<(), String> {
        match word {
            "" => return Err("an empty word names no device".to_owned()),
            "ALL" => self.options.entries.push(Entry::All),
            _ if is_number(word) => {
                let number: u32 =
                    word.parse().map_err(|_| format!("`{word}` is too large a number"))?;
                self.numbers.push(u64::from(number));
            }
            _ => self.options.entries.push(Entry::Device(device(word))),
        }
        Ok(())
    }

    fn finish(self, posix: bool) -> Result<Options, String> {
        let Reader { mut options, units, numbers } = self;
        (options.interval_s, options.count) = match numbers[..] {
            [] | [0] => (None, None),
            [interval] => (Some(interval), None),
            [0, _] => return Err("`0`: a count needs an interval of a second or more".to_owned()),
            [_, 0] => return Err("`0`: a count of reports begins at 1".to_owned()),
            [interval, count] => (Some(interval), Some(count)),
            [.., third] => {
                return Err(format!("`{third}`: after interval and count no number has a meaning"));
            }
        };
        options.unit = match units[..] {
            [] if posix => Unit::Sector,
            [] => Unit::Kilo,
            [first, ..] if units.iter().all(|unit| *unit == first) => first,
            _ => return Err("`-k` and `-m`: only one of them can be the unit".to_owned()),
        };
        let has_group = options.entries.iter().any(|entry| matches!(entry, Entry::Group(_)));
        if options.groups_only && !has_group {
            return Err("`-H` shows groups only, and no `-g` makes one".to_owned());
        }
        if options.partitions != Partitions::Named && !options.entries.is_empty() {
            // Whoever names devices and asks for all partitions gets both.
            options.entries.push(Entry::All);
        }
        let either = options.cpu || options.devices;
        // Extended figures, partitions or groups are asked of devices.
        let of_devices = options.extended || options.partitions != Partitions::Named;
        options.devices |= !either || of_devices || !options.entries.is_empty();
        options.cpu |= !either;
        Ok(options)
    }
}

/// The kernel's name of `/dev/sda`; it has `!` where names of nodes have `/`.
fn device(word: &str) -> String {
    word.strip_prefix("/dev/").unwrap_or(word).replace('/', "!")
}

fn is_number(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit())
}
