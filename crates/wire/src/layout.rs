//! Layouts of headers as data.

/// The field layout of the twelve bytes of one header kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Layout {
    /// The five-bit kind on the wire.
    pub kind: u8,
    /// The name of the variant of [`Header`](crate::Header).
    pub name: &'static str,
    /// Names and widths in bytes of the fields, in order.
    pub fields: &'static [(&'static str, u8)],
}
