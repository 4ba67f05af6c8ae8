//! HTML: a report or a comparison in, one self-contained page out.
//!
//! The page works offline and loads nothing: style and script are embedded, pictures are SVG, and a
//! Content-Security-Policy forbids every request. The page is complete without the script and on
//! paper. Sentences, numbers and tables come from `candor_show`; nothing here computes a number.
//!
//! ```
//! use candor_html::{Frame, page};
//!
//! let frame = Frame { title: "Results".into(), ..Frame::default() };
//! assert!(page(&frame, &[]).starts_with("<!doctype html>"));
//! ```
//!
//! | module | content |
//! | --- | --- |
//! | `page` | the frame: head, navigation, sections, footer |
//! | `markup` | HTML that escapes its input |
//! | `parts` | tables, lists, commands to copy, files to download |
//! | `pictures` | pictures with their values and tables |
//! | `report`, `comparison` | the sections of a report, of a comparison |
//! | `topology` | the path from the workers to the devices |

mod comparison;
mod markup;
mod page;
mod parts;
mod pictures;
mod report;
mod topology;

pub use comparison::comparison;
pub use markup::Markup;
pub use page::{Frame, Section, page};
pub use pictures::{Heading, figure};
pub use report::report;
