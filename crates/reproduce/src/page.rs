//! A file of the pages.

/// A file of the pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// Its name: `README.md`, `ren.md`, or a picture such as `ren-fig16-1-as_compared.svg`.
    pub name: String,
    /// Its text.
    pub text: String,
}
