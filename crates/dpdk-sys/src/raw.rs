//! The functions of `shim.c`.

use std::ffi::{c_char, c_int, c_uint};

#[repr(C)]
pub(crate) struct RawPool([u8; 0]);
#[repr(C)]
pub(crate) struct RawRing([u8; 0]);

/// The start of `struct rte_mbuf`; `shim.c` asserts the offsets.
#[repr(C)]
pub(crate) struct Head {
    pub buf_addr: *mut u8,
    pub buf_iova: u64,
    pub data_off: u16,
    pub refcnt: u16,
    pub nb_segs: u16,
    pub port: u16,
    pub ol_flags: u64,
    pub packet_type: u32,
    pub pkt_len: u32,
    pub data_len: u16,
    pub vlan_tci: u16,
    pub hash: [u32; 2],
    pub vlan_tci_outer: u16,
    pub buf_len: u16,
}

const _: () = {
    assert!(std::mem::offset_of!(Head, data_off) == 16);
    assert!(std::mem::offset_of!(Head, pkt_len) == 36);
    assert!(std::mem::offset_of!(Head, data_len) == 40);
    assert!(std::mem::offset_of!(Head, buf_len) == 54);
};

/// Where the private area of an mbuf starts.
pub(crate) const PRIVATE: usize = 128;

unsafe extern "C" {
    pub(crate) fn incast_dpdk_messages(out: *mut u8, size: usize) -> usize;
    pub(crate) fn incast_dpdk_init(argc: c_int, argv: *mut *mut c_char, aloud: c_int) -> c_int;
    pub(crate) fn incast_dpdk_version() -> *const c_char;
    pub(crate) fn incast_dpdk_most_ports() -> c_uint;
    pub(crate) fn incast_dpdk_ports() -> c_uint;
    pub(crate) fn incast_dpdk_strerror(error: c_int) -> *const c_char;
    pub(crate) fn incast_dpdk_sibling(name: *const c_char, out: *mut c_char, size: usize) -> c_int;
    pub(crate) fn incast_dpdk_thread_register() -> c_int;
    pub(crate) fn incast_dpdk_thread_unregister();
    pub(crate) fn incast_dpdk_thread_is_registered() -> c_int;
    pub(crate) fn incast_dpdk_tsc_hz() -> u64;
    pub(crate) fn incast_dpdk_pool_create(
        name: *const c_char,
        count: c_uint,
        cache: c_uint,
        private_size: u16,
        room: u16,
        init: extern "C" fn(*mut u8),
        out: *mut *mut RawPool,
    ) -> c_int;
    pub(crate) fn incast_dpdk_pool_free(pool: *mut RawPool);
    pub(crate) fn incast_dpdk_pool_available(pool: *const RawPool) -> c_uint;
    pub(crate) fn incast_dpdk_alloc(
        pool: *mut RawPool,
        out: *mut *mut Head,
        count: c_uint,
    ) -> c_int;
    pub(crate) fn incast_dpdk_free(mbufs: *mut *mut Head, count: c_uint);
    pub(crate) fn incast_dpdk_ring_create(
        name: *const c_char,
        count: c_uint,
        out: *mut *mut RawRing,
    ) -> c_int;
    pub(crate) fn incast_dpdk_ring_free(ring: *mut RawRing);
    pub(crate) fn incast_dpdk_ring_count(ring: *const RawRing) -> c_uint;
    pub(crate) fn incast_dpdk_ring_put(
        ring: *mut RawRing,
        mbufs: *mut *mut Head,
        count: c_uint,
    ) -> c_uint;
    pub(crate) fn incast_dpdk_ring_take(
        ring: *mut RawRing,
        out: *mut *mut Head,
        most: c_uint,
    ) -> c_uint;
    pub(crate) fn incast_dpdk_port_of_rings(
        name: *const c_char,
        rx: *mut RawRing,
        tx: *mut RawRing,
    ) -> c_int;
    pub(crate) fn incast_dpdk_port_find(name: *const c_char) -> c_int;
    pub(crate) fn incast_dpdk_may_capture() -> c_int;
    pub(crate) fn incast_dpdk_bring_up(interface: *const c_char) -> c_int;
    pub(crate) fn incast_dpdk_probe(arguments: *const c_char) -> c_int;
    pub(crate) fn incast_dpdk_port_start(
        port: u16,
        pool: *mut RawPool,
        descriptors: u16,
        mtu: u16,
    ) -> c_int;
    pub(crate) fn incast_dpdk_port_close(port: u16) -> c_int;
    pub(crate) fn incast_dpdk_port_address(port: u16, out: *mut u8) -> c_int;
    pub(crate) fn incast_dpdk_port_is_up(port: u16) -> c_int;
    pub(crate) fn incast_dpdk_port_counts(port: u16, out: *mut u64) -> c_int;
    pub(crate) fn incast_dpdk_rx(port: u16, out: *mut *mut Head, most: u16) -> u16;
    pub(crate) fn incast_dpdk_tx(port: u16, mbufs: *mut *mut Head, count: u16) -> u16;
    pub(crate) fn incast_dpdk_forward(
        from: u16,
        to: u16,
        burst: u16,
        most: u64,
        cycles: *mut u64,
    ) -> u64;
}
