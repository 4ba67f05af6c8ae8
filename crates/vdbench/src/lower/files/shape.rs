//! Shapes of trees: a file system definition with the values of a run.

use candor_plan::units::SizeSpec;
use candor_plan::{Bytes, Tree};

use super::Values;
use crate::definitions::fsd::{FilePlacement, FileSizes, Fsd};

/// Names of directories and files in vdbench's form.
const DIRECTORY: &str = "vdb.{level}_{child}.dir";
const FILE: &str = "vdb_f{number:04}.file";

/// A file system in a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    /// Levels of directories.
    pub depth: u32,
    /// Directories in each directory.
    pub width: u32,
    /// Files in each directory that has files.
    pub files: u64,
    /// Directories that have files.
    pub placement: FilePlacement,
    /// Sizes of files.
    pub sizes: FileSizes,
    /// Bytes of the files to create, if not all.
    pub total_size: Option<u64>,
    /// Bytes of the files to use, if not all.
    pub working_set: Option<u64>,
}

impl Shape {
    /// The shape of a definition, overridden by values of a run.
    ///
    /// # Errors
    /// A share of a total that the definition does not have.
    pub fn of(fsd: &Fsd, values: &Values) -> Result<Shape, String> {
        let total_size = match values.total_size {
            Some(percent) if percent < 0.0 => match fsd.total_size {
                Some(total) => Some((total * -percent / 100.0) as u64),
                None => {
                    let share = -percent;
                    return Err(format!(
                        "totalsize={share}% is a share of the file system's totalsize, and it has \
                         none"
                    ));
                }
            },
            Some(total) if total > 0.0 => Some(total as u64),
            _ => fsd.total_size.map(|total| total as u64),
        };
        let working_set = values.working_set.or(fsd.working_set);
        Ok(Shape {
            depth: values.depth.unwrap_or(fsd.depth),
            width: values.width.unwrap_or(fsd.width),
            files: values.files.unwrap_or(fsd.files),
            placement: fsd.placement,
            sizes: values.file_size.map_or_else(|| fsd.sizes.clone(), FileSizes::Fixed),
            total_size,
            working_set: working_set.filter(|bytes| *bytes > 0.0).map(|bytes| bytes as u64),
        })
    }

    /// The tree of the plan.
    pub fn tree(&self) -> Tree {
        Tree {
            depth: self.depth,
            width: self.width,
            items: self.files,
            leaves_only: self.placement == FilePlacement::Bottom,
            root_is_bare: true,
            file_size: sizes(&self.sizes),
            ..named()
        }
    }

    /// Checks that each subset of files fits into the larger one.
    ///
    /// # Errors
    /// A subset is larger than its superset.
    pub fn check(&self) -> Result<(), String> {
        let files = self.tree().part(0, 1).items();
        let most = u128::from(files) * u128::from(sizes(&self.sizes).max().0);
        let fits =
            |part: Option<u64>, whole: u128| part.is_none_or(|part| u128::from(part) <= whole);
        if !fits(self.total_size, most) {
            let total = self.total_size.unwrap_or(0);
            return Err(format!("totalsize={total} is more than its {files} files have: {most}"));
        }
        let total = self.total_size.map_or(most, u128::from);
        if !fits(self.working_set, total) {
            let set = self.working_set.unwrap_or(0);
            return Err(format!("workingsetsize={set} is more than its files have: {total}"));
        }
        Ok(())
    }

    /// Subsets of files that a run uses or a format creates.
    pub fn parts(&self, is_format: bool) -> Vec<Bytes> {
        let working_set = self.working_set.filter(|_| !is_format);
        self.total_size.into_iter().chain(working_set).map(Bytes).collect()
    }
}

/// A tree of vdbench's names.
pub fn named() -> Tree {
    Tree {
        first_number: 1,
        root_is_bare: true,
        // A test reads the names.
        directory_name: DIRECTORY.parse().ok(),
        item_name: FILE.parse().ok(),
        ..Tree::default()
    }
}

/// Sizes of files as the plan has them.
fn sizes(sizes: &FileSizes) -> SizeSpec {
    match sizes {
        FileSizes::Fixed(size) => SizeSpec::Fixed(Bytes(*size)),
        FileSizes::Mixed(pairs) => {
            SizeSpec::Weighted(whole_percents(pairs.iter().map(|(size, share)| (*size, *share))))
        }
        FileSizes::Around(mean) => around(*mean),
    }
}

/// Sizes with integer percentages; the last one receives the rounding error.
pub fn whole_percents(pairs: impl Iterator<Item = (u64, f64)>) -> Vec<(Bytes, u8)> {
    let mut left = 100_u8;
    let mut list: Vec<(Bytes, u8)> = pairs
        .map(|(size, share)| {
            let percent = (share.round().clamp(0.0, 100.0) as u8).min(left);
            left -= percent;
            (Bytes(size), percent)
        })
        .collect();
    if let Some((_, percent)) = list.last_mut() {
        *percent += left;
    }
    list
}

/// Any size from half of the mean to half more than it, in steps as vdbench rounds them.
fn around(mean: u64) -> SizeSpec {
    const K: u64 = 1024;
    const M: u64 = 1024 * K;
    let step = match mean {
        0 => return SizeSpec::Fixed(Bytes(0)),
        mean if mean >= 10 * M => M,
        mean if mean >= M => 100 * K,
        mean if mean >= 100 * K => 10 * K,
        _ => K,
    };
    let low = (mean / 2 / step * step).max(step.min(mean));
    let high = low + (mean / step).max(1) * step;
    SizeSpec::Stepped(Bytes(low), Bytes(high), Bytes(step))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_tools() {
        let shape =
            Shape::of(&Fsd { depth: 2, width: 2, files: 3, ..Fsd::default() }, &Values::default());
        let tree = shape.expect("a shape").tree();
        let (names, part) = (tree.names(), tree.part(0, 1));
        let mut path = Vec::new();
        names.write_directory(&part.item(11), &mut path);
        names.write_item(&part.item(11), &mut path);
        assert_eq!(path, b"/vdb.1_2.dir/vdb.2_2.dir/vdb_f0003.file");
        assert_eq!((part.directories(), part.items()), (6, 12));
    }

    #[test]
    fn files_stand_below_or_everywhere_but_in_the_anchor() {
        let fsd =
            Fsd { depth: 3, width: 2, files: 5, placement: FilePlacement::All, ..Fsd::default() };
        let tree = Shape::of(&fsd, &Values::default()).expect("a shape").tree();
        assert_eq!(tree.part(0, 1).items(), 14 * 5);
        let bottom = Fsd { placement: FilePlacement::Bottom, ..fsd };
        let tree = Shape::of(&bottom, &Values::default()).expect("a shape").tree();
        assert_eq!(tree.part(0, 1).items(), 8 * 5);
    }

    #[test]
    fn sizes_are_one_or_several_or_around_a_mean() {
        assert_eq!(sizes(&FileSizes::Fixed(0)), SizeSpec::Fixed(Bytes(0)));
        let mixed = FileSizes::Mixed(vec![(4096, 33.4), (8192, 33.3), (65_536, 33.3)]);
        let expected = vec![(Bytes(4096), 33), (Bytes(8192), 33), (Bytes(65_536), 34)];
        assert_eq!(sizes(&mixed), SizeSpec::Weighted(expected));
        let SizeSpec::Stepped(low, high, step) = sizes(&FileSizes::Around(64 << 10)) else {
            panic!("a range")
        };
        assert_eq!((low.0, high.0, step.0), (32 << 10, 96 << 10, 1024));
        assert_eq!(around(512), SizeSpec::Stepped(Bytes(512), Bytes(1536), Bytes(1024)));
    }

    #[test]
    fn a_share_of_a_total_needs_the_total() {
        let half = Values { total_size: Some(-50.0), ..Values::default() };
        assert!(Shape::of(&Fsd::default(), &half).is_err());
        let fsd = Fsd { total_size: Some(1e6), working_set: Some(1e5), ..Fsd::default() };
        let shape = Shape::of(&fsd, &half).expect("a shape");
        assert_eq!(shape.parts(false), [Bytes(500_000), Bytes(100_000)]);
        assert_eq!(shape.parts(true), [Bytes(500_000)]);
        // Ten files of 4k are not half a million bytes.
        assert!(shape.check().expect_err("too much").contains("totalsize=500000"));
        assert!(Shape { working_set: Some(40_961), total_size: None, ..shape }.check().is_err());
    }
}
