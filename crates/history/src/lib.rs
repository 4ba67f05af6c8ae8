//! x
mod change; mod entry; mod error; mod files; mod index; mod place; mod query;
pub use error::Error; pub use files::{Kind,Note,RunId}; pub use index::Index; pub use place::{Place,VARIABLE,place}; pub use query::Filter;
