//! Report in, one self-contained page out.
//!
//! The page opens offline and loads nothing: style and script stand in it, pictures are SVG, and a
//! Content-Security-Policy forbids every request. It is whole without the script, on paper too.
//! Words, numbers and tables are those of `candor_show`; nothing here computes one.
//!
//! | module | for |
//! | --- | --- |
//! | [`page`](mod@page) | the frame: head, navigation, sections, footer |
//! | `markup` | HTML that escapes whatever it is given |
//! | `parts` | tables, lists, commands to copy, files to keep |
//! | `pictures` | pictures with their values and tables |
//! | `report` | the sections of a report |
//! | `topology` | the way from the workers to the devices, drawn |

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
