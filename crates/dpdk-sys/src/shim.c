/* The functions of DPDK that Incast calls: most are inline or macros in DPDK's headers. Results are
 * 0 or a count; negative results are error numbers. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_dev.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_eth_ring.h>
#include <rte_ethdev.h>
#include <rte_lcore.h>
#include <rte_log.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>
#include <rte_ring.h>
#include <rte_version.h>

/* `Head` in mbuf.rs is the start of this structure. */
_Static_assert(offsetof(struct rte_mbuf, buf_addr) == 0, "mbuf.rs reads buf_addr");
_Static_assert(offsetof(struct rte_mbuf, data_off) == 16, "mbuf.rs reads data_off");
_Static_assert(offsetof(struct rte_mbuf, refcnt) == 18, "mbuf.rs reads refcnt");
_Static_assert(offsetof(struct rte_mbuf, nb_segs) == 20, "mbuf.rs reads nb_segs");
_Static_assert(offsetof(struct rte_mbuf, pkt_len) == 36, "mbuf.rs writes pkt_len");
_Static_assert(offsetof(struct rte_mbuf, data_len) == 40, "mbuf.rs writes data_len");
_Static_assert(offsetof(struct rte_mbuf, buf_len) == 54, "mbuf.rs reads buf_len");
_Static_assert(sizeof(struct rte_mbuf) == 128, "the private area follows at 128");
_Static_assert(RTE_PKTMBUF_HEADROOM == 128, "mbuf.rs knows the headroom");
_Static_assert(RTE_MAX_ETHPORTS >= 2, "ring pairs need ports");

#define MESSAGES 4096

/* What DPDK said last: the end of its log. */
static char messages[MESSAGES];
static size_t said;

static int failed(void) { return rte_errno ? -rte_errno : -EIO; }

static ssize_t note(void *cookie, const char *text, size_t size) {
  (void)cookie;
  size_t kept = size < MESSAGES ? size : MESSAGES;
  const char *from = text + (size - kept);
  if (said + kept > MESSAGES) {
    size_t stay = MESSAGES - kept;
    memmove(messages, messages + (said - stay), stay);
    said = stay;
  }
  memcpy(messages + said, from, kept);
  said += kept;
  return (ssize_t)size;
}

/* Copies what DPDK said since the last call, at most `size` bytes; returns how many. */
size_t incast_dpdk_messages(char *out, size_t size) {
  size_t count = said < size ? said : size;
  memcpy(out, messages + (said - count), count);
  said = 0;
  return count;
}

/* ---- the environment: once per process ---- */

/* With `aloud`, DPDK's log goes to the standard error, since results go to the output; else it is kept for the caller. */
int incast_dpdk_init(int argc, char **argv, int aloud) {
  if (aloud) {
    rte_openlog_stream(stderr);
    return rte_eal_init(argc, argv) < 0 ? failed() : 0;
  }
  cookie_io_functions_t functions = {.write = note};
  FILE *log = fopencookie(NULL, "w", functions);
  if (log != NULL) {
    setvbuf(log, NULL, _IONBF, 0);
    rte_openlog_stream(log);
  }
  /* Besides its log, it prints its usage and alarms; the caller says what is wrong in one line. */
  fflush(NULL);
  int out = dup(STDOUT_FILENO), error = dup(STDERR_FILENO), none = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (out >= 0 && error >= 0 && none >= 0) {
    dup2(none, STDOUT_FILENO);
    dup2(none, STDERR_FILENO);
  }
  int result = rte_eal_init(argc, argv) < 0 ? failed() : 0;
  fflush(NULL);
  if (out >= 0 && error >= 0 && none >= 0) {
    dup2(out, STDOUT_FILENO);
    dup2(error, STDERR_FILENO);
  }
  close(out);
  close(error);
  close(none);
  return result;
}

const char *incast_dpdk_version(void) { return rte_version(); }

unsigned incast_dpdk_most_ports(void) { return RTE_MAX_ETHPORTS; }

/* Ports in use. */
unsigned incast_dpdk_ports(void) { return rte_eth_dev_count_total(); }

const char *incast_dpdk_strerror(int error) { return rte_strerror(error); }

/* The file of another library of the same DPDK: librte_eal.so.23 -> librte_NAME.so.23. */
int incast_dpdk_sibling(const char *name, char *out, size_t size) {
  Dl_info info;
  if (dladdr((void *)(uintptr_t)rte_eal_init, &info) == 0 || info.dli_fname == NULL)
    return -ENOENT;
  const char *found = strstr(info.dli_fname, "librte_eal.so");
  if (found == NULL)
    return -ENOENT;
  int length = snprintf(out, size, "%.*slibrte_%s%s", (int)(found - info.dli_fname),
                        info.dli_fname, name, found + strlen("librte_eal"));
  return length < 0 || (size_t)length >= size ? -ENAMETOOLONG : 0;
}

int incast_dpdk_thread_register(void) { return rte_thread_register() == 0 ? 0 : failed(); }

void incast_dpdk_thread_unregister(void) { rte_thread_unregister(); }

int incast_dpdk_thread_is_registered(void) { return rte_lcore_id() != LCORE_ID_ANY; }

uint64_t incast_dpdk_tsc_hz(void) { return rte_get_tsc_hz(); }

/* ---- packet memory ---- */

static void init_one(struct rte_mempool *pool, void *init, void *object, unsigned index) {
  (void)pool, (void)index;
  ((void (*)(void *))(uintptr_t)init)((char *)object + sizeof(struct rte_mbuf));
}

/* `init` writes the private area of each mbuf once.
 *
 * Free mbufs are in a ring whose head and tail move together (HTS). In DPDK's default ring each thread
 * waits for those before it: of more threads than cores, one that is descheduled in between holds up
 * all, for minutes. In the other ring for such threads, RTS, a free mbuf may find no room and is lost. */
int incast_dpdk_pool_create(const char *name, unsigned count, unsigned cache, uint16_t private_size,
                            uint16_t room, void (*init)(void *private_area),
                            struct rte_mempool **out) {
  *out = rte_pktmbuf_pool_create_by_ops(name, count, cache, private_size, room, SOCKET_ID_ANY,
                                        "ring_mt_hts");
  if (*out == NULL)
    return failed();
  rte_mempool_obj_iter(*out, init_one, (void *)(uintptr_t)init);
  return 0;
}

void incast_dpdk_pool_free(struct rte_mempool *pool) { rte_mempool_free(pool); }

/* Mbufs that are free, also those in the caches of threads. */
unsigned incast_dpdk_pool_available(const struct rte_mempool *pool) {
  return rte_mempool_avail_count(pool);
}

/* All or none. */
int incast_dpdk_alloc(struct rte_mempool *pool, struct rte_mbuf **out, unsigned count) {
  return rte_pktmbuf_alloc_bulk(pool, out, count);
}

void incast_dpdk_free(struct rte_mbuf **mbufs, unsigned count) {
  rte_pktmbuf_free_bulk(mbufs, count);
}

/* ---- rings ---- */

/* A ring for one producer and one consumer that holds exactly `count`. */
int incast_dpdk_ring_create(const char *name, unsigned count, struct rte_ring **out) {
  *out = rte_ring_create(name, count, SOCKET_ID_ANY,
                         RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ);
  return *out == NULL ? failed() : 0;
}

void incast_dpdk_ring_free(struct rte_ring *ring) { rte_ring_free(ring); }

unsigned incast_dpdk_ring_count(const struct rte_ring *ring) { return rte_ring_count(ring); }

unsigned incast_dpdk_ring_put(struct rte_ring *ring, struct rte_mbuf **mbufs, unsigned count) {
  return rte_ring_sp_enqueue_burst(ring, (void **)mbufs, count, NULL);
}

unsigned incast_dpdk_ring_take(struct rte_ring *ring, struct rte_mbuf **out, unsigned most) {
  return rte_ring_sc_dequeue_burst(ring, (void **)out, most, NULL);
}

/* ---- ports ---- */

/* A port that receives from one ring and sends into the other. Returns its number. */
int incast_dpdk_port_of_rings(const char *name, struct rte_ring *in, struct rte_ring *out) {
  rte_errno = 0;
  int port = rte_eth_from_rings(name, &in, 1, &out, 1, rte_socket_id());
  return port < 0 ? failed() : port;
}

/* The port of a device that is there already, by its name. */
int incast_dpdk_port_find(const char *name) {
  uint16_t port;
  int result = rte_eth_dev_get_port_by_name(name, &port);
  return result != 0 ? result : port;
}

/* Whether this process may open raw packet sockets. */
int incast_dpdk_may_capture(void) {
  int socket_number = socket(AF_PACKET, SOCK_RAW, 0);
  if (socket_number < 0)
    return -errno;
  close(socket_number);
  return 0;
}

/* Brings a network interface up. */
int incast_dpdk_bring_up(const char *interface) {
  struct ifreq request = {0};
  int result = 0, any = socket(AF_INET, SOCK_DGRAM, 0);
  if (any < 0)
    return -errno;
  strncpy(request.ifr_name, interface, IFNAMSIZ - 1);
  if (ioctl(any, SIOCGIFFLAGS, &request) != 0)
    result = -errno;
  else if (!(request.ifr_flags & IFF_UP)) {
    request.ifr_flags |= IFF_UP;
    if (ioctl(any, SIOCSIFFLAGS, &request) != 0)
      result = -errno;
  }
  close(any);
  return result;
}

/* Looks for the device of these arguments: a PCI address, or `net_af_packet0,iface=veth0`. */
int incast_dpdk_probe(const char *arguments) { return rte_dev_probe(arguments); }

int incast_dpdk_port_start(uint16_t port, struct rte_mempool *pool, uint16_t descriptors,
                           uint16_t mtu) {
  struct rte_eth_dev_info info;
  struct rte_eth_conf conf = {0};
  uint16_t rx = descriptors, tx = descriptors;
  int result = rte_eth_dev_info_get(port, &info);
  if (result != 0)
    return result;
  /* As much as the device takes: net_af_packet says 1518 bytes, with Ethernet header and checksum. */
  uint32_t overhead = info.max_mtu != UINT16_MAX && info.max_rx_pktlen > info.max_mtu
                          ? info.max_rx_pktlen - info.max_mtu
                          : RTE_ETHER_HDR_LEN + RTE_ETHER_CRC_LEN;
  uint32_t most = info.max_rx_pktlen > overhead ? info.max_rx_pktlen - overhead : 0;
  if (most > info.max_mtu)
    most = info.max_mtu;
  if (mtu > RTE_ETHER_MTU)
    conf.rxmode.mtu = mtu < most ? mtu : most;
  if ((result = rte_eth_dev_configure(port, 1, 1, &conf)) != 0 ||
      (result = rte_eth_dev_adjust_nb_rx_tx_desc(port, &rx, &tx)) != 0 ||
      (result = rte_eth_rx_queue_setup(port, 0, rx, rte_eth_dev_socket_id(port), NULL, pool)) != 0 ||
      (result = rte_eth_tx_queue_setup(port, 0, tx, rte_eth_dev_socket_id(port), NULL)) != 0 ||
      (result = rte_eth_dev_start(port)) != 0)
    return result;
  result = rte_eth_promiscuous_enable(port);
  return result == -ENOTSUP ? 0 : result;
}

/* Stops the port and removes its device. */
int incast_dpdk_port_close(uint16_t port) {
  struct rte_eth_dev_info info;
  int known = rte_eth_dev_info_get(port, &info);
  rte_eth_dev_stop(port);
  int result = rte_eth_dev_close(port);
  if (known == 0 && info.device != NULL)
    rte_dev_remove(info.device);
  return result;
}

int incast_dpdk_port_address(uint16_t port, uint8_t out[6]) {
  struct rte_ether_addr address;
  int result = rte_eth_macaddr_get(port, &address);
  if (result == 0)
    memcpy(out, address.addr_bytes, 6);
  return result;
}

/* 1 if the link is up, 0 if it is down. */
int incast_dpdk_port_is_up(uint16_t port) {
  struct rte_eth_link link;
  int result = rte_eth_link_get_nowait(port, &link);
  return result != 0 ? result : link.link_status;
}

/* Frames received, sent, missed for want of room, lost for want of mbufs. */
int incast_dpdk_port_counts(uint16_t port, uint64_t out[4]) {
  struct rte_eth_stats stats;
  int result = rte_eth_stats_get(port, &stats);
  if (result == 0) {
    out[0] = stats.ipackets;
    out[1] = stats.opackets;
    out[2] = stats.imissed;
    out[3] = stats.rx_nombuf;
  }
  return result;
}

uint16_t incast_dpdk_rx(uint16_t port, struct rte_mbuf **out, uint16_t most) {
  return rte_eth_rx_burst(port, 0, out, most);
}

uint16_t incast_dpdk_tx(uint16_t port, struct rte_mbuf **mbufs, uint16_t count) {
  return rte_eth_tx_burst(port, 0, mbufs, count);
}

/* ---- a forwarder, to compare with ---- */

/* Takes bursts off port `from`, sets a bit of each frame as a mark would and sends it by `to`, until
 * `from` is empty or `most` frames have gone. Returns the frames; adds the cycles of passes that had
 * frames. */
uint64_t incast_dpdk_forward(uint16_t from, uint16_t to, uint16_t burst, uint64_t most,
                             uint64_t *cycles) {
  struct rte_mbuf *mbufs[512];
  uint64_t frames = 0;
  burst = burst < RTE_DIM(mbufs) ? burst : RTE_DIM(mbufs);
  while (frames < most) {
    uint64_t begin = rte_rdtsc();
    uint16_t got = rte_eth_rx_burst(from, 0, mbufs, burst);
    if (got == 0)
      break;
    for (uint16_t i = 0; i < got; i++) {
      if (i + 4 < got)
        rte_prefetch0(rte_pktmbuf_mtod(mbufs[i + 4], void *));
      rte_pktmbuf_mtod(mbufs[i], volatile uint8_t *)[1] |= 2;
    }
    uint16_t sent = rte_eth_tx_burst(to, 0, mbufs, got);
    *cycles += rte_rdtsc() - begin;
    if (sent < got)
      rte_pktmbuf_free_bulk(mbufs + sent, got - sent);
    frames += got;
  }
  return frames;
}
