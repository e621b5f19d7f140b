/// Every limit of this module, with its unit and its reason.
enum Limits {
  /// Names that are queried at the same time.
  ///
  /// Each requires two datagrams (A and AAAA), so at most 128 are in flight. c-ares has one UDP socket per server, and
  /// with 512 answers in flight a default receive buffer drops some.
  static let activeNames = 64

  /// How long a name with an address of one family waits for the other family: a responsive server answers sooner.
  static let resolutionDelay: Duration = .milliseconds(300)

  /// Names that wait for a query: a restart with 1,000 named targets requests all of them at the same time.
  static let queuedNames = 1_024

  /// Requests without an answer, including several for one name: it limits memory (about 200 bytes each) and the
  /// duration of the scan for the next deadline.
  static let requestsOpen = 4_096

  /// Cached names: at about 300 bytes each, a little over 1 MiB.
  static let cacheEntries = 4_096

  /// Addresses stored per family: more than any load balancer returns; a TCP answer could contain 4,000.
  static let addressesPerFamily = 64

  /// Errors that are read from a socket's error queue in one pass and discarded: routers send a few per second.
  static let queuedErrors = 16

  /// Search domains that are tried: eight times as many as Kubernetes permits.
  ///
  /// glibc has no limit, but each domain costs a query, and a file of ``resolvConfBytes`` could have thousands.
  static let searchDomains = 256

  /// The greatest value of the option `ndots` (resolv.conf(5)).
  static let searchDots = 15

  /// Bytes requested for the DNS socket's receive buffer.
  ///
  /// The kernel grants at most `net.core.rmem_max` (212,992 by default), doubled for its bookkeeping, which is enough
  /// for more than 128 answers.
  static let dnsReceiveBuffer: Int32 = 1 << 20

  /// Attempts per DNS server.
  ///
  /// c-ares doubles its timeout in every round, so three rounds take 1 + 2 + 4 = 7 times the timeout of the first.
  static let dnsTries = 3
  static let dnsTimeoutDivisor = 7

  /// The bounds of the first round's timeout: below 100 ms queries to distant servers fail, and above 2 s one lost
  /// datagram delays the answer too much.
  static let dnsServerTimeout: ClosedRange<Duration> = .milliseconds(100) ... .seconds(2)

  /// Bytes of resolv.conf(5) that are read: three servers at most, the search list and comments need less.
  static let resolvConfBytes = 16_384

  /// The longest name without its final dot, and the longest label, in bytes (RFC 1035 section 2.3.4; 255 on the wire).
  static let nameBytes = 253
  static let labelBytes = 63

  /// Events per epoll_wait(2): the thread watches a socket for each DNS server, and its own mailbox.
  static let resolverEvents = 16

  /// The longest effective timeout: a later deadline could overflow the kernel's clocks.
  static let longestTimeout: Duration = .seconds(3_600)
}
