//! A packet socket at one interface. The only place that calls the system for it.

use std::ffi::{CStr, CString};
use std::io;
use std::mem::{size_of, zeroed};
use std::net::Ipv4Addr;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// Bytes that the kernel keeps for a socket in each direction.
const BUFFER: libc::c_int = 4 << 20;

/// All types of frames, in network order.
const ALL: u16 = (libc::ETH_P_ALL as u16).to_be();

/// Words that hold the time stamp of a frame with its header.
const CONTROL: usize = 8;

/// What has been received.
pub enum Incoming {
    /// A frame of so many bytes, which came so many nanoseconds before the instant asked about.
    Frame(usize, u64),
    /// A frame longer than the place for it.
    TooLong,
}

/// A packet socket.
pub struct Socket {
    descriptor: OwnedFd,
    address: [u8; 6],
    mtu: usize,
}

impl Socket {
    /// Opens a socket at an interface, and brings the interface up.
    ///
    /// # Errors
    /// There is no such interface, or no right to use it; in words.
    pub fn open(interface: &str) -> Result<Socket, String> {
        let index = index_of(interface)?;
        // SAFETY: no pointers; the result is checked.
        let raw = unsafe {
            let kind = libc::SOCK_RAW | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
            libc::socket(libc::AF_PACKET, kind, 0)
        };
        if raw < 0 {
            return Err(refused(interface, &io::Error::last_os_error()));
        }
        // SAFETY: the descriptor is new and belongs to nobody else.
        let descriptor = unsafe { OwnedFd::from_raw_fd(raw) };
        let mut socket = Socket { descriptor, address: [0; 6], mtu: 0 };
        (socket.address, socket.mtu) = socket.bring_up(interface)?;
        socket.set_up(index).map_err(|error| refused(interface, &error))?;
        Ok(socket)
    }

    /// The interface's Ethernet address.
    pub fn address(&self) -> [u8; 6] {
        self.address
    }

    /// The longest packet that the interface takes.
    pub fn mtu(&self) -> usize {
        self.mtu
    }

    /// Brings the interface up and returns its address and its MTU.
    fn bring_up(&self, interface: &str) -> Result<([u8; 6], usize), String> {
        let fail = |_| refused(interface, &io::Error::last_os_error());
        // SAFETY: all bytes 0 are a valid request.
        let mut request: libc::ifreq = unsafe { zeroed() };
        for (to, from) in request.ifr_name.iter_mut().zip(interface.bytes()) {
            *to = from as libc::c_char;
        }
        self.control(libc::SIOCGIFHWADDR, &mut request).map_err(fail)?;
        // SAFETY: the system has filled this part of the union.
        let bytes = unsafe { request.ifr_ifru.ifru_hwaddr.sa_data };
        let mut address = [0; 6];
        address.iter_mut().zip(bytes).for_each(|(to, from)| *to = from as u8);
        self.control(libc::SIOCGIFFLAGS, &mut request).map_err(fail)?;
        // SAFETY: the system has filled this part of the union.
        let flags = unsafe { request.ifr_ifru.ifru_flags };
        let up = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
        if flags & libc::IFF_UP as libc::c_short == 0 {
            request.ifr_ifru.ifru_flags = flags | up;
            self.control(libc::SIOCSIFFLAGS, &mut request).map_err(fail)?;
        }
        self.control(libc::SIOCGIFMTU, &mut request).map_err(fail)?;
        // SAFETY: the system has filled this part of the union.
        let mtu = unsafe { request.ifr_ifru.ifru_mtu };
        Ok((address, usize::try_from(mtu).unwrap_or(0)))
    }

    fn control(&self, what: libc::Ioctl, request: &mut libc::ifreq) -> io::Result<()> {
        // SAFETY: the request is as long as the system expects, and lives during the call.
        let result = unsafe { libc::ioctl(self.descriptor.as_raw_fd(), what, request) };
        if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    fn set_up(&self, index: libc::c_int) -> io::Result<()> {
        for (forced, plain) in
            [(libc::SO_RCVBUFFORCE, libc::SO_RCVBUF), (libc::SO_SNDBUFFORCE, libc::SO_SNDBUF)]
        {
            // Beyond the system's limit only with the right to.
            if self.set(libc::SOL_SOCKET, forced, &BUFFER).is_err() {
                self.set(libc::SOL_SOCKET, plain, &BUFFER)?;
            }
        }
        let one: libc::c_int = 1;
        self.set(libc::SOL_PACKET, libc::PACKET_IGNORE_OUTGOING, &one)?;
        self.set(libc::SOL_SOCKET, libc::SO_TIMESTAMPNS, &one)?;
        // SAFETY: all bytes 0 are a valid value.
        let mut member: libc::packet_mreq = unsafe { zeroed() };
        member.mr_ifindex = index;
        member.mr_type = libc::PACKET_MR_PROMISC as libc::c_ushort;
        self.set(libc::SOL_PACKET, libc::PACKET_ADD_MEMBERSHIP, &member)?;
        // SAFETY: all bytes 0 are a valid address.
        let mut address: libc::sockaddr_ll = unsafe { zeroed() };
        address.sll_family = libc::AF_PACKET as libc::c_ushort;
        address.sll_protocol = ALL;
        address.sll_ifindex = index;
        let length = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
        let pointer = (&raw const address).cast::<libc::sockaddr>();
        // SAFETY: the address is as long as said, and lives during the call.
        let result = unsafe { libc::bind(self.descriptor.as_raw_fd(), pointer, length) };
        if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    fn set<T>(&self, level: libc::c_int, option: libc::c_int, value: &T) -> io::Result<()> {
        set_option(&self.descriptor, level, option, value)
    }

    /// The next frame, if one is there, with how long before `now` ([`wall_clock`]) it came.
    pub fn receive(&mut self, into: &mut [u8], now: u64) -> io::Result<Incoming> {
        let length = into.len();
        let mut part = libc::iovec { iov_base: into.as_mut_ptr().cast(), iov_len: length };
        let mut control = [0_u64; CONTROL];
        // SAFETY: all bytes 0 are a valid value.
        let mut message: libc::msghdr = unsafe { zeroed() };
        (message.msg_iov, message.msg_iovlen) = (&raw mut part, 1);
        message.msg_control = control.as_mut_ptr().cast();
        message.msg_controllen = size_of_val(&control);
        let descriptor = self.descriptor.as_raw_fd();
        // SAFETY: the system writes at most `length` bytes to the slice and as many as said to `control`.
        let result = unsafe { libc::recvmsg(descriptor, &raw mut message, libc::MSG_TRUNC) };
        match usize::try_from(result) {
            Ok(bytes) if bytes > length => Ok(Incoming::TooLong),
            Ok(bytes) => {
                let age = stamp_of(&message).map_or(0, |stamp| now.saturating_sub(stamp));
                Ok(Incoming::Frame(bytes, age))
            }
            Err(_) => Err(io::Error::last_os_error()),
        }
    }

    /// Sends a frame.
    pub fn send(&mut self, frame: &[u8]) -> io::Result<()> {
        let (pointer, length) = (frame.as_ptr().cast::<libc::c_void>(), frame.len());
        // SAFETY: the system reads at most `length` bytes of the slice.
        let result = unsafe { libc::send(self.descriptor.as_raw_fd(), pointer, length, 0) };
        if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    /// Frames that the kernel has dropped since the last call because the buffer was full.
    pub fn take_dropped(&mut self) -> u64 {
        // SAFETY: all bytes 0 are a valid value.
        let mut counts: [libc::c_uint; 2] = [0; 2];
        let mut length = size_of_val(&counts) as libc::socklen_t;
        let (option, pointer) = (libc::PACKET_STATISTICS, counts.as_mut_ptr().cast());
        let descriptor = self.descriptor.as_raw_fd();
        // SAFETY: the system writes the two counts, as many bytes as said.
        let result = unsafe {
            libc::getsockopt(descriptor, libc::SOL_PACKET, option, pointer, &raw mut length)
        };
        if result < 0 { 0 } else { counts[1] as u64 }
    }
}

/// Keeps the kernel, where it has the address too, from answering that nobody takes datagrams to a UDP port; and
/// other programs from the port. What comes to it is dropped.
pub struct Guard {
    _descriptor: OwnedFd,
}

impl Guard {
    /// Takes a UDP port; nothing if the kernel does not have the address.
    ///
    /// # Errors
    /// Another program has the port, or the system says no; in words.
    pub fn open(address: Ipv4Addr, port: u16) -> Result<Option<Guard>, String> {
        let fail = |error: io::Error| format!("UDP port {port} of {address}: {error}");
        // Where no interface ever had an address, every address can be taken.
        if !kernel_has(address).map_err(fail)? {
            return Ok(None);
        }
        // SAFETY: no pointers; the result is checked.
        let raw = unsafe { libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0) };
        if raw < 0 {
            return Err(fail(io::Error::last_os_error()));
        }
        // SAFETY: the descriptor is new and belongs to nobody else.
        let descriptor = unsafe { OwnedFd::from_raw_fd(raw) };
        // "Return 0": no byte is kept of anything.
        let mut none = libc::sock_filter { code: 6, jt: 0, jf: 0, k: 0 };
        let program = libc::sock_fprog { len: 1, filter: &raw mut none };
        // Ports of one node may share an address.
        let one: libc::c_int = 1;
        let set = set_option(&descriptor, libc::SOL_SOCKET, libc::SO_ATTACH_FILTER, &program)
            .and_then(|()| set_option(&descriptor, libc::SOL_SOCKET, libc::SO_REUSEADDR, &one));
        set.map_err(fail)?;
        // SAFETY: all bytes 0 are a valid address.
        let mut at: libc::sockaddr_in = unsafe { zeroed() };
        at.sin_family = libc::AF_INET as libc::sa_family_t;
        (at.sin_port, at.sin_addr.s_addr) = (port.to_be(), address.to_bits().to_be());
        let length = size_of::<libc::sockaddr_in>() as libc::socklen_t;
        let pointer = (&raw const at).cast::<libc::sockaddr>();
        // SAFETY: the address is as long as said, and lives during the call.
        if unsafe { libc::bind(descriptor.as_raw_fd(), pointer, length) } == 0 {
            return Ok(Some(Guard { _descriptor: descriptor }));
        }
        let error = io::Error::last_os_error();
        match error.kind() {
            io::ErrorKind::AddrInUse => Err(format!(
                "another program has UDP port {port} of {address}: end it, or give `udp=` another port at both ends"
            )),
            _ => Err(fail(error)),
        }
    }
}

/// Whether an interface of this network namespace has an address.
fn kernel_has(address: Ipv4Addr) -> io::Result<bool> {
    let mut list = std::ptr::null_mut();
    // SAFETY: the system writes the list's first entry to the place given.
    if unsafe { libc::getifaddrs(&raw mut list) } != 0 {
        return Err(io::Error::last_os_error());
    }
    let (mut entry, mut found) = (list, false);
    while !entry.is_null() {
        // SAFETY: the list ends with a null pointer; an address of this family is of this type.
        unsafe {
            let at = (*entry).ifa_addr;
            if !at.is_null() && libc::c_int::from((*at).sa_family) == libc::AF_INET {
                let bits = (*at.cast::<libc::sockaddr_in>()).sin_addr.s_addr;
                found |= u32::from_be(bits) == address.to_bits();
            }
            entry = (*entry).ifa_next;
        }
    }
    // SAFETY: the list is given back once.
    unsafe { libc::freeifaddrs(list) };
    Ok(found)
}

fn set_option<T>(
    descriptor: &OwnedFd,
    level: libc::c_int,
    option: libc::c_int,
    value: &T,
) -> io::Result<()> {
    let length = size_of::<T>() as libc::socklen_t;
    let pointer = (value as *const T).cast::<libc::c_void>();
    // SAFETY: the value is as long as said, and lives during the call.
    let result =
        unsafe { libc::setsockopt(descriptor.as_raw_fd(), level, option, pointer, length) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Nanoseconds of a time of the system.
fn nanoseconds(time: &libc::timespec) -> u64 {
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// The clock that the kernel stamps frames with, in nanoseconds.
pub fn wall_clock() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the system writes the time to the place given.
    unsafe { libc::clock_gettime(libc::CLOCK_REALTIME, &raw mut time) };
    nanoseconds(&time)
}

/// When the kernel took the frame in, by [`wall_clock`].
fn stamp_of(message: &libc::msghdr) -> Option<u64> {
    // SAFETY: the system has filled the control part, whose headers these calls walk through; a time is
    // read from where one has been written, wherever it lies.
    unsafe {
        let mut header = libc::CMSG_FIRSTHDR(message);
        while !header.is_null() {
            let kind = ((*header).cmsg_level, (*header).cmsg_type);
            if kind == (libc::SOL_SOCKET, libc::SCM_TIMESTAMPNS) {
                let time = libc::CMSG_DATA(header).cast::<libc::timespec>().read_unaligned();
                return Some(nanoseconds(&time));
            }
            header = libc::CMSG_NXTHDR(message, header);
        }
    }
    None
}

/// The number of an interface.
fn index_of(interface: &str) -> Result<libc::c_int, String> {
    let missing = || {
        let all = interfaces();
        let there = if all.is_empty() { "none".into() } else { all.join(", ") };
        format!("there is no interface `{interface}` here; there are: {there}")
    };
    let name = CString::new(interface).map_err(|_| missing())?;
    if interface.len() >= libc::IFNAMSIZ {
        return Err(missing());
    }
    // SAFETY: the name ends with a zero and lives during the call.
    match unsafe { libc::if_nametoindex(name.as_ptr()) } {
        0 => Err(missing()),
        index => Ok(index as libc::c_int),
    }
}

/// The names of all interfaces.
fn interfaces() -> Vec<String> {
    let mut names = vec![];
    // SAFETY: the list ends with an entry of index 0, and is given back once.
    unsafe {
        let list = libc::if_nameindex();
        let mut entry = list;
        while !entry.is_null() && (*entry).if_index != 0 {
            names.push(CStr::from_ptr((*entry).if_name).to_string_lossy().into_owned());
            entry = entry.add(1);
        }
        if !list.is_null() {
            libc::if_freenameindex(list);
        }
    }
    names
}

/// A refusal of the system, with what to do.
fn refused(interface: &str, error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::PermissionDenied => format!(
            "no right to open a packet socket at `{interface}`: run as root, or as root of a \
             network namespace of your own (`unshare -Urn`); `incast testbed netns` makes such \
             namespaces by itself"
        ),
        _ => format!("interface `{interface}`: {error}"),
    }
}
