//! A view covers its complete header: encoding and decoding lose nothing.

use super::table::transports;
use incast_transport::{Extension, FlowId, HeaderView, HostId, Info, Packet, TransportId};
use proptest::prelude::*;

/// A packet with this header, as hosts would send it.
pub fn packet(id: TransportId, view: &HeaderView, values: &[u32]) -> Packet {
    Packet {
        header: view.header(values),
        src: HostId(1),
        dst: HostId(2),
        flow: FlowId(7),
        payload: if view.payload == Some(true) { 100 } else { 0 },
        path: 0,
        mark: view.codes.first().map_or(0, |code| code.mark),
        class: 1,
        transport: id,
        flags: 0,
        extension: 0,
    }
}

fn all() -> Vec<(&'static Info, &'static HeaderView)> {
    let each = |(info, views): (&'static Info, &'static [HeaderView])| {
        views.iter().map(move |view| (info, view))
    };
    transports().into_iter().flat_map(each).collect()
}

proptest! {
    #[test]
    fn any_view_comes_back_from_bytes(
        index in any::<prop::sample::Index>(),
        values in prop::collection::vec(any::<u32>(), 12),
    ) {
        let (info, view) = *index.get(&all());
        let fields: Vec<_> = view.fields().collect();
        let packet = packet(info.id, view, &values);
        let mut bytes = vec![];
        incast_wire::encode(&packet, &Extension::None, &mut bytes);
        let (read, _) = incast_wire::decode(&bytes).expect("well formed");
        prop_assert_eq!(read, packet);
        // Values are truncated to their width; a bit is set if its value is not zero.
        let cut = fields.iter().zip(&values).map(|(field, value)| match field.bit {
            0 => value & field.max(),
            _ => (*value != 0) as u32,
        });
        let cut: Vec<u32> = cut.collect();
        prop_assert_eq!(view.values(&read.header), Some(cut.clone()));
        prop_assert_eq!(view.header(&cut), read.header);
        prop_assert!(view.describes(&read) && view.names_all_bits(&read.header));
    }
}

#[test]
fn a_packet_matches_one_view() {
    for (info, views) in transports() {
        for (index, view) in views.iter().enumerate() {
            let ones: Vec<u32> = view.fields().map(|_| u32::MAX).collect();
            for values in [&ones[..], &[]] {
                let packet = packet(info.id, view, values);
                let kinds = views.iter().enumerate().filter(|(_, other)| other.describes(&packet));
                let kinds: Vec<usize> = kinds.map(|(other, _)| other).collect();
                assert_eq!(kinds, [index], "{} {}: {packet:?}", info.name, view.name);
            }
        }
    }
}

#[test]
fn every_field_and_every_unit_is_described() {
    for (info, view) in all() {
        let what = format!("{} {}", info.name, view.name);
        assert!(!view.doc.trim().is_empty(), "{what}");
        for field in view.fields() {
            assert!(!field.doc.trim().is_empty(), "{what} {}", field.name);
            assert_eq!(field.unit.is_empty(), field.bit != 0, "{what} {}: unit", field.name);
        }
        let mut names: Vec<&str> = view.fields().map(|field| field.name).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), view.fields().count(), "{what}: a name twice");
    }
}
