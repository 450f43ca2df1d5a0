//! Typed views of headers.

use crate::common::packet;
use incast_wire::{
    Extension, Header, LAYOUTS, MarkCode, Packet, data_flag, flag, header_view, tcp_flag,
};

header_view! {
    /// Lets packets go.
    pub struct Permit over Grant {
        /// Packets below this one.
        below: u32 = seq, "packets";
        /// The number of the permit.
        number: u24 = tag, "permits";
    }
    bits {
        /// It is urgent.
        urgent = data_flag::PULL;
    }
    set data_flag::TAGGED;
    clear data_flag::LAST;
    unused request;

    /// Bytes.
    pub struct Bytes over Segment {
        /// The first one.
        first: u32 = seq, "bytes";
        /// How full the path is.
        level: u8 = nibble, "level";
    }
    clear tcp_flag::ACK;
    payload true;
    unused ack, window;
    edit level_mut = nibble: u8;

    /// Nothing but a word.
    pub struct Word over Segment {}
    clear tcp_flag::ACK;
    payload false;
    unused seq, ack, window, nibble;
}

#[test]
fn a_view_is_a_header_with_other_names() {
    let permit = Permit { below: 7, number: 0x0102_0304, urgent: true };
    let header = Header::from(permit);
    let flags = data_flag::TAGGED | data_flag::PULL;
    assert_eq!(header, Header::Grant { seq: 7, request: 0, tag: 0x0102_0304, flags });
    // Truncated when the packet is created, like every header.
    let cut = Permit { number: 0x02_0304, ..permit };
    assert_eq!(Permit::read(&header.rounded()), Some(cut));
    assert_eq!(Header::from(Word {}), Header::read(1, &[0; 12]).unwrap());
}

#[test]
fn a_view_is_read_from_its_own_kind_only() {
    let flags = data_flag::TAGGED;
    let header = |flags| Header::Grant { seq: 1, request: 0, tag: 2, flags };
    assert!(Permit::read(&header(flags)).is_some());
    assert!(Permit::read(&header(0)).is_none(), "the bit that identifies it is not set");
    assert!(Permit::read(&header(flags | data_flag::LAST)).is_none(), "one that must not be is");
    assert!(Permit::read(&header(flags | data_flag::REQUEST)).is_some(), "others do not matter");
    assert!(Permit::read(&Header::Ack { seq: 1, cumulative: 0, number: 2, flags }).is_none());
}

#[test]
fn one_field_can_be_changed_in_place() {
    let mut header = Bytes { first: 9, level: 1 }.into();
    *Bytes::level_mut(&mut header).unwrap() = 12;
    assert_eq!(Bytes::read(&header), Some(Bytes { first: 9, level: 12 }));
    assert_eq!(Bytes::level_mut(&mut Permit::default().into()), None);
}

#[test]
fn the_declaration_gives_the_offset_of_each_field() {
    let fields: Vec<_> = Permit::VIEW
        .fields()
        .map(|field| (field.name, field.offset, field.width, field.bit, field.unit, field.max()))
        .collect();
    let below = ("below", 0, 4, 0, "packets", u32::MAX);
    let number = ("number", 8, 3, 0, "permits", 0xff_ffff);
    assert_eq!(fields, [below, number, ("urgent", 11, 1, data_flag::PULL, "", 1)]);
    assert_eq!((Permit::VIEW.name, Permit::VIEW.layout, Permit::VIEW.kind), ("Permit", "Grant", 3));
    assert_eq!(Permit::VIEW.doc.trim(), "Lets packets go.");
    for layout in LAYOUTS {
        assert_eq!(layout.fields.iter().map(|(_, width)| width).sum::<u8>(), 12, "{layout:?}");
    }
}

#[test]
fn an_unused_field_is_zero_and_not_shown() {
    let view = Permit::VIEW.without("number");
    let header = view.header(&[5, 1]);
    assert_eq!(Permit::read(&header), Some(Permit { below: 5, number: 0, urgent: true }));
    assert_eq!(view.values(&header), Some(vec![5, 1]));
    assert!(view.names_all_bits(&header));
    let more = Header::from(Permit { below: 5, number: 1, urgent: true });
    assert!(Permit::VIEW.names_all_bits(&more) && !view.names_all_bits(&more));
}

#[test]
fn kinds_of_packets_with_the_same_bits_differ_by_their_payload() {
    let word = packet(Word {}.into(), &Extension::None);
    let bytes = Packet { payload: 1, ..word };
    let trimmed = Packet { flags: flag::TRIMMED, ..word };
    for (packet, is_bytes) in [(word, false), (bytes, true), (trimmed, true)] {
        assert_eq!(Bytes::VIEW.describes(&packet), is_bytes, "{packet:?}");
        assert_eq!(Word::VIEW.describes(&packet), !is_bytes, "{packet:?}");
    }
}

#[test]
fn codes_are_what_was_declared() {
    const CODES: &[MarkCode] = &[MarkCode { mark: 2, name: "full", doc: "no room" }];
    assert!(Bytes::VIEW.codes.is_empty());
    assert_eq!(Bytes::VIEW.coded(CODES).codes, CODES);
}
