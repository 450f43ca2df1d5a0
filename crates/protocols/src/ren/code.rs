//! The code in the ECN bits.

/// What the two ECN bits of a REN packet say (REN §3.2.3). A later hop may only raise the code.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub enum Code {
    /// Room for more: a grant lets two packets go.
    Under = 0b00,
    /// No room: one packet.
    Full = 0b01,
    /// A queue: none.
    Over = 0b10,
}

impl Code {
    /// The code in the ECN bits; the unused value counts as [`Code::Over`].
    #[inline]
    pub fn of(mark: u8) -> Code {
        match mark & 3 {
            0b00 => Code::Under,
            0b01 => Code::Full,
            _ => Code::Over,
        }
    }
}
