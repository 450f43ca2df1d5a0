//! Typed views: the meaning of header fields for one transport.
//!
//! A [`Header`] is a layout that several transports share. A transport declares one view per packet
//! type with [`header_view!`], creates and reads packets through it, and lists it in its catalogue
//! entry. The declaration produces a struct with meaningful field names, and a [`HeaderView`], from
//! which the Wireshark dissector is generated. A view is a plain struct; conversions are inlined
//! copies.
//!
//! [`header_view!`]: crate::header_view

use crate::Layout;
use crate::header::LAYOUTS;
use crate::{Header, Packet, flag};

/// One field of a view.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HeaderField {
    /// Name in the view.
    pub name: &'static str,
    /// Description.
    pub doc: &'static str,
    /// Unit, such as `packets` or `ns`; empty for a bit.
    pub unit: &'static str,
    /// Offset of its first byte in the twelve.
    pub offset: u8,
    /// Width in bytes.
    pub width: u8,
    /// The mask of a one-bit field; 0 for other fields.
    pub bit: u8,
}

impl HeaderField {
    /// The largest value of the field; wider values are truncated.
    pub const fn max(&self) -> u32 {
        if self.bit != 0 { 1 } else { u32::MAX >> (32 - 8 * self.width as u32) }
    }

    /// Where it is in the twelve bytes: `bytes 0-3`, `byte 11, bit 0x10`.
    pub fn place(&self) -> String {
        let (first, last) = (self.offset, self.offset + self.width - 1);
        match (self.bit, self.width) {
            (0, 1) => format!("byte {first}"),
            (0, _) => format!("bytes {first}-{last}"),
            (bit, _) => format!("byte {first}, bit {bit:#04x}"),
        }
    }
}

/// A value of the ECN bits with a transport-specific meaning.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MarkCode {
    /// The two bits.
    pub mark: u8,
    /// The code's name.
    pub name: &'static str,
    /// Description.
    pub doc: &'static str,
}

/// A declared view as data, for the dissector, documents and tests.
#[derive(Clone, Copy, Debug)]
pub struct HeaderView {
    /// The packet type, as the transport's paper names it.
    pub name: &'static str,
    /// Description.
    pub doc: &'static str,
    /// The layout's number.
    pub kind: u8,
    /// The layout's name.
    pub layout: &'static str,
    /// Bits of the flags byte that are always set.
    pub set: u8,
    /// Bits of the flags byte that are never set.
    pub clear: u8,
    /// Whether the packet has (or had, before trimming) a payload; `None` if the layout and the
    /// bits identify the view.
    pub payload: Option<bool>,
    /// The codes in the ECN bits; empty if they follow RFC 3168 or are unused.
    pub codes: &'static [MarkCode],
    fields: &'static [HeaderField],
    /// Bit mask of the `fields` that the listing transport does not use.
    hidden: u32,
    make: fn(&mut dyn Iterator<Item = u32>) -> Header,
    values: fn(&Header) -> Option<Vec<u32>>,
}

impl HeaderView {
    /// A view from its declaration. For [`header_view!`](crate::header_view).
    #[doc(hidden)]
    pub const fn declared(
        (name, doc, layout): (&'static str, &'static str, &'static str),
        (set, clear, payload): (u8, u8, &'static [bool]),
        fields: &'static [HeaderField],
        make: fn(&mut dyn Iterator<Item = u32>) -> Header,
        values: fn(&Header) -> Option<Vec<u32>>,
    ) -> HeaderView {
        assert!(fields.len() <= 32);
        let mut used = set;
        assert!(used & clear == 0, "a bit is set and clear");
        used |= clear;
        let mut index = 0;
        while index < fields.len() {
            let bit = fields[index].bit;
            assert!(bit == 0 || bit.is_power_of_two(), "a flag is one bit");
            assert!(used & bit == 0, "two names for one bit");
            used |= bit;
            index += 1;
        }
        HeaderView {
            name,
            doc,
            kind: layout_of(layout).kind,
            layout,
            set,
            clear,
            payload: if payload.is_empty() { None } else { Some(payload[0]) },
            codes: &[],
            fields,
            hidden: 0,
            make,
            values,
        }
    }

    /// The view for a transport that does not use one of its fields: always zero, not shown.
    ///
    /// # Panics
    /// If the view has no such field; in a constant, at compile time.
    pub const fn without(mut self, field: &str) -> HeaderView {
        let mut index = 0;
        while !same(self.fields[index].name, field) {
            index += 1;
        }
        self.hidden |= 1 << index;
        self
    }

    /// The view under another name, for a transport that sends two kinds of packets for one purpose.
    pub const fn named(mut self, name: &'static str) -> HeaderView {
        self.name = name;
        self
    }

    /// The view for a transport with its own codes in the ECN bits.
    pub const fn coded(mut self, codes: &'static [MarkCode]) -> HeaderView {
        self.codes = codes;
        self
    }

    /// Its name in a filter of Wireshark: `GoBack` is `go_back`.
    pub fn filter_name(&self) -> String {
        let mut name = String::new();
        for letter in self.name.chars() {
            if letter.is_uppercase() && !name.is_empty() {
                name.push('_');
            }
            name.push(letter.to_ascii_lowercase());
        }
        name
    }

    /// What tells its packets from others with this layout: `Segment (1), byte 11 lacks 0x09, with
    /// payload`.
    pub fn signature(&self) -> String {
        let mut parts = vec![format!("{} ({})", self.layout, self.kind)];
        parts.extend((self.set != 0).then(|| format!("byte 11 has {:#04x}", self.set)));
        parts.extend((self.clear != 0).then(|| format!("byte 11 lacks {:#04x}", self.clear)));
        let payload = |with| if with { "with payload" } else { "without payload" };
        parts.extend(self.payload.map(|with| String::from(payload(with))));
        parts.join(", ")
    }

    /// The fields in use, bits last.
    pub fn fields(&self) -> impl Iterator<Item = &'static HeaderField> + use<> {
        let hidden = self.hidden;
        let shown = move |&(index, _): &(usize, _)| hidden & 1 << index == 0;
        self.fields.iter().enumerate().filter(shown).map(|(_, field)| field)
    }

    /// A header with these values, in the order of [`fields`](HeaderView::fields). Missing values
    /// and unused fields are zero. Created through the typed view.
    pub fn header(&self, values: &[u32]) -> Header {
        let mut given = values.iter().copied();
        let mut all = (0..self.fields.len()).map(|index| match self.hidden & 1 << index {
            0 => given.next().unwrap_or(0),
            _ => 0,
        });
        (self.make)(&mut all)
    }

    /// The values of a header in the order of [`fields`](HeaderView::fields), read through the
    /// typed view; `None` for another kind. The payload is not checked.
    pub fn values(&self, header: &Header) -> Option<Vec<u32>> {
        let values = (self.values)(header)?;
        let shown = |&(index, _): &(usize, _)| self.hidden & 1 << index == 0;
        Some(values.into_iter().enumerate().filter(shown).map(|(_, value)| value).collect())
    }

    /// Whether a packet matches the view: its layout, its fixed bits and its payload.
    pub fn describes(&self, packet: &Packet) -> bool {
        let payload = packet.is_data() || packet.has(flag::TRIMMED);
        packet.header.kind() == self.kind
            && own_bytes(&packet.header)[FLAGS] & (self.set | self.clear) == self.set
            && self.payload.is_none_or(|carries| carries == payload)
    }

    /// Whether the view names all bits of a header that are set.
    pub fn names_all_bits(&self, header: &Header) -> bool {
        let mut rest = own_bytes(header);
        rest[FLAGS] &= !self.set;
        for field in self.fields() {
            let (from, width) = (field.offset as usize, field.width as usize);
            match field.bit {
                0 => rest[from..from + width].fill(0),
                bit => rest[from] &= !bit,
            }
        }
        rest == [0; 12]
    }
}

/// Offset of the flags byte in all layouts that views support.
const FLAGS: usize = 11;

fn own_bytes(header: &Header) -> [u8; 12] {
    let mut bytes = [0; 12];
    header.write(&mut bytes);
    bytes
}

const fn layout_of(name: &str) -> &'static Layout {
    let mut index = 0;
    while !same(LAYOUTS[index].name, name) {
        index += 1;
    }
    &LAYOUTS[index]
}

impl Layout {
    /// Offset of a field, which must have this width. For [`header_view!`](crate::header_view).
    #[doc(hidden)]
    pub const fn place(layout: &str, field: &str, width: u8) -> u8 {
        let fields = layout_of(layout).fields;
        let (mut index, mut offset) = (0, 0);
        while !same(fields[index].0, field) {
            offset += fields[index].1;
            index += 1;
        }
        assert!(fields[index].1 == width, "the layout's field has another width");
        offset
    }
}

const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut index = 0;
    while index < a.len() && index < b.len() && a[index] == b[index] {
        index += 1;
    }
    index == a.len() && index == b.len()
}

/// Declares typed views of headers.
///
/// ```
/// use incast_wire::{Header, data_flag, header_view};
///
/// header_view! {
///     /// Packets below a number may be sent.
///     pub struct Grant over Grant {
///         /// Packets below this one may be sent.
///         granted: u32 = seq, "packets";
///         /// Service class to send them in.
///         class: u24 = tag, "class";
///     }
///     bits {
///         /// Something was lost.
///         loss = data_flag::REQUEST;
///     }
///     unused request;
/// }
///
/// let grant = Grant { granted: 12, class: 3, loss: false };
/// let header = Header::from(grant);
/// assert_eq!(header, Header::Grant { seq: 12, request: 0, tag: 3, flags: 0 });
/// assert_eq!(Grant::read(&header), Some(grant));
/// assert_eq!(Grant::VIEW.values(&header), Some(vec![12, 3, 0]));
/// ```
///
/// `over` names the layout, a variant of [`Header`]. Each of its fields except `flags` either holds
/// a field of the view, or is `unused` and zero. Types are those of the layout: `u8`, `u16`, `u24`
/// (a `u32` in memory, truncated when a packet is created) and `u32`. The text after a layout field
/// is the unit. If packet types share a layout, `set BITS;` and `clear BITS;` distinguish them by
/// the flags byte, and `payload true;` or `payload false;` by the payload, which `read` does not
/// check. `edit name = field: type;` adds a function that returns a mutable reference to a header
/// field, for switches that modify packets.
#[macro_export]
macro_rules! header_view {
    (@mem u8) => { u8 }; (@mem u16) => { u16 }; (@mem u24) => { u32 }; (@mem u32) => { u32 };
    (@width u8) => { 1 }; (@width u16) => { 2 }; (@width u24) => { 3 }; (@width u32) => { 4 };
    ($(
        $(#[doc = $doc:literal])*
        pub struct $name:ident over $kind:ident {
            $(
                $(#[doc = $field_doc:literal])*
                $field:ident : $ty:ident = $place:ident, $unit:literal;
            )*
        }
        $(bits { $(
            $(#[doc = $bit_doc:literal])*
            $bit:ident = $mask:expr;
        )* })?
        $(set $set:expr;)?
        $(clear $clear:expr;)?
        $(payload $payload:literal;)?
        $(unused $($unused:ident),*;)?
        $(edit $edit:ident = $edited:ident : $edit_ty:ident;)?
    )*) => { $(
        $(#[doc = $doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
        pub struct $name {
            $($(#[doc = $field_doc])* pub $field: $crate::header_view!(@mem $ty),)*
            $($($(#[doc = $bit_doc])* pub $bit: bool,)*)?
        }

        impl $name {
            /// Bits of the flags byte that are always set.
            const SET: u8 = 0 $(| $set)?;
            /// Bits of the flags byte that identify this view within its layout.
            const FIXED: u8 = $name::SET $(| $clear)?;

            /// The declaration as data.
            pub const VIEW: $crate::HeaderView = $crate::HeaderView::declared(
                (stringify!($name), concat!($($doc),*), stringify!($kind)),
                ($name::SET, $name::FIXED & !$name::SET, &[$($payload)?]),
                &[
                    $($crate::HeaderField {
                        name: stringify!($field),
                        doc: concat!($($field_doc),*),
                        unit: $unit,
                        offset: $crate::Layout::place(
                            stringify!($kind),
                            stringify!($place),
                            $crate::header_view!(@width $ty),
                        ),
                        width: $crate::header_view!(@width $ty),
                        bit: 0,
                    },)*
                    $($($crate::HeaderField {
                        name: stringify!($bit),
                        doc: concat!($($bit_doc),*),
                        unit: "",
                        offset: $crate::Layout::place(stringify!($kind), "flags", 1),
                        width: 1,
                        bit: $mask,
                    },)*)?
                ],
                |_values| {
                    $(let $field = _values.next().unwrap_or(0) as $crate::header_view!(@mem $ty);)*
                    $($(let $bit = _values.next().unwrap_or(0) != 0;)*)?
                    $crate::Header::from($name { $($field,)* $($($bit,)*)? }).rounded()
                },
                |header| {
                    let $name { $($field,)* $($($bit,)*)? } = $name::read(header)?;
                    Some(vec![$($field as u32,)* $($($bit as u32,)*)?])
                },
            );

            /// Reads a header through this view; `None` for another kind.
            #[inline]
            pub fn read(header: &$crate::Header) -> Option<$name> {
                let $crate::Header::$kind { $($place: $field,)* flags, .. } = *header else {
                    return None;
                };
                if flags & $name::FIXED != $name::SET {
                    return None;
                }
                Some($name { $($field,)* $($($bit: flags & $mask != 0,)*)? })
            }

            $(
                /// Mutable access to the field in a header of this layout; `None` in other layouts.
                #[inline]
                pub fn $edit(header: &mut $crate::Header) -> Option<&mut $edit_ty> {
                    match header {
                        $crate::Header::$kind { $edited, .. } => Some($edited),
                        _ => None,
                    }
                }
            )?
        }

        impl From<$name> for $crate::Header {
            #[inline]
            fn from(view: $name) -> $crate::Header {
                let $name { $($field,)* $($($bit,)*)? } = view;
                $crate::Header::$kind {
                    $($place: $field,)*
                    $($($unused: 0,)*)?
                    flags: $name::SET $($(| if $bit { $mask } else { 0 })*)?,
                }
            }
        }
    )* };
}
