//! One host: the engine with observe beside it, then judge, then the report.
