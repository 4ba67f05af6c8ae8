//! The control file of an anchor: the definition that created its tree.
//!
//! candor uses vdbench's format, so either program recognizes the other's tree. The tree is checked
//! each time; vdbench does so if a file reports an unfinished run.

use super::shape::Shape;
use crate::definitions::fsd::{FilePlacement, FileSizes};

/// Name of the file in the anchor.
pub const NAME: &str = "vdb_control.file";

/// The definition of a tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Control {
    /// Levels of directories.
    pub depth: u64,
    /// Directories in each directory.
    pub width: u64,
    /// Files in each directory that has files.
    pub files: u64,
    /// `bottom` or `all`.
    pub placement: String,
    /// Sizes, or sizes and percent in pairs.
    pub sizes: Vec<u64>,
}

impl Control {
    /// The definition of a shape.
    pub fn of(shape: &Shape) -> Control {
        let placement = match shape.placement {
            FilePlacement::Bottom => "bottom",
            FilePlacement::All => "all",
        };
        let sizes = match &shape.sizes {
            FileSizes::Fixed(size) => vec![*size],
            FileSizes::Around(mean) => vec![*mean, 0],
            FileSizes::Mixed(pairs) => {
                pairs.iter().flat_map(|(size, percent)| [*size, *percent as u64]).collect()
            }
        };
        Control {
            depth: shape.depth.into(),
            width: shape.width.into(),
            files: shape.files,
            placement: placement.into(),
            sizes,
        }
    }

    /// The shape that created a tree, with all its files.
    pub fn shape(&self) -> Shape {
        let sizes = match self.sizes[..] {
            [size] => FileSizes::Fixed(size),
            [mean, 0] => FileSizes::Around(mean),
            ref pairs => {
                let pairs = pairs.chunks_exact(2).map(|pair| (pair[0], pair[1] as f64));
                FileSizes::Mixed(pairs.collect())
            }
        };
        Shape {
            depth: self.depth as u32,
            width: self.width as u32,
            files: self.files,
            placement: match self.placement.as_str() {
                "all" => FilePlacement::All,
                _ => FilePlacement::Bottom,
            },
            sizes,
            total_size: None,
            working_set: None,
        }
    }

    /// Reads a control file.
    ///
    /// # Errors
    /// Returns a sentence about the problem.
    pub fn read(text: &str) -> Result<Control, String> {
        let (mut control, mut sum, mut is_checked) = (Control::default(), 0_u64, false);
        let mut in_definition = true;
        for line in text.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            if let Some(told) = line.strip_prefix("checksum:") {
                is_checked = told.trim().parse() == Ok(sum);
                break;
            }
            sum += line.chars().map(u64::from).sum::<u64>();
            in_definition &= words.first() != Some(&"directory");
            if in_definition {
                control.take(&words).ok_or_else(|| format!("`{line}` is no line of it"))?;
            }
        }
        if is_checked { Ok(control) } else { Err("its checksum does not fit".into()) }
    }

    /// Reads the words of one line of the definition.
    fn take(&mut self, words: &[&str]) -> Option<()> {
        let (key, value) = (words.first()?, words.get(1)?);
        let number = || value.parse::<u64>().ok();
        match *key {
            "when" => {}
            "depth" => self.depth = number()?,
            "width" => self.width = number()?,
            "files" => self.files = number()?,
            "dist" => self.placement = (*value).into(),
            "size" => self.sizes.push(number()?),
            _ => return None,
        }
        Some(())
    }

    /// The text of the control file, written at that date.
    pub fn text(&self, date: &str) -> String {
        let Control { depth, width, files, placement, sizes } = self;
        let mut text = format!(
            "when  start {date}\ndepth {depth}\nwidth {width}\nfiles {files}\ndist  {placement}\n"
        );
        sizes.iter().for_each(|size| text += &format!("size  {size}\n"));
        text += "directory status 0\nfile status 0\n";
        let sum: u64 = text.lines().flat_map(str::chars).map(u64::from).sum();
        text + &format!("checksum: {sum} \n")
    }

    /// Differences from another definition, old and new values.
    pub fn difference(&self, new: &Control) -> Option<String> {
        let numbers = [
            ("depth", self.depth, new.depth),
            ("width", self.width, new.width),
            ("files", self.files, new.files),
        ];
        let mut parts: Vec<String> = numbers
            .into_iter()
            .filter(|(_, old, new)| old != new)
            .map(|(key, old, new)| format!("old {key}={old}; new {key}={new}"))
            .collect();
        if self.placement != new.placement {
            parts.push(format!(
                "old distribution={}; new distribution={}",
                self.placement, new.placement
            ));
        }
        if self.sizes != new.sizes {
            parts.push(format!(
                "old sizes={}; new sizes={}",
                shown(&self.sizes),
                shown(&new.sizes)
            ));
        }
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}

fn shown(sizes: &[u64]) -> String {
    let numbers: Vec<String> = sizes.iter().map(u64::to_string).collect();
    match &numbers[..] {
        [one] => one.clone(),
        list => format!("({})", list.join(",")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn control() -> Control {
        let sizes = vec![4096, 60, 65_536, 40];
        Control { depth: 2, width: 3, files: 10, placement: "bottom".into(), sizes }
    }

    #[test]
    fn what_is_written_is_read() {
        let text = control().text("Wed Nov 25 13:00:00 UTC 2026");
        assert_eq!(Control::read(&text), Ok(control()));
        insta::assert_snapshot!(text, @r"
        when  start Wed Nov 25 13:00:00 UTC 2026
        depth 2
        width 3
        files 10
        dist  bottom
        size  4096
        size  60
        size  65536
        size  40
        directory status 0
        file status 0
        checksum: 11534
        ");
    }

    #[test]
    fn a_file_of_the_tool_itself_is_read() {
        // With the state of directories and files, as the end of a run has it.
        let body = "when  end Wed Nov 25 13:00:00 UTC 2026\ndepth 1\nwidth 1\nfiles 2\n\
                    dist  bottom\nsize  4096\ndirectory status 1\ny\nfile status 2\nf\nf\n";
        let sum: u32 = body.lines().flat_map(str::chars).map(u32::from).sum();
        let read = Control::read(&format!("{body}checksum: {sum} \n"));
        let sizes = vec![4096];
        let expected = Control { depth: 1, width: 1, files: 2, placement: "bottom".into(), sizes };
        assert_eq!(read, Ok(expected));
        assert!(Control::read(&format!("{body}checksum: {} \n", sum + 1)).is_err());
        assert!(Control::read(body).is_err() && Control::read("").is_err());
        assert!(Control::read("what is this\n").is_err());
    }

    #[test]
    fn differences_are_told_old_and_new() {
        assert_eq!(control().difference(&control()), None);
        let other = Control { depth: 4, sizes: vec![4096], ..control() };
        let told = control().difference(&other).expect("different");
        assert_eq!(told, "old depth=2; new depth=4, old sizes=(4096,60,65536,40); new sizes=4096");
    }
}
