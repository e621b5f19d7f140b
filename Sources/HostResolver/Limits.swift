/// Every limit of this module, with its unit and its reason.
enum Limits {
  /// Names with open queries.
  ///
  /// Each requires two datagrams (A and AAAA), so at most 128 are in flight. c-ares has one UDP socket per server, and
  /// with 512 answers in flight a default receive buffer drops some.
  static let activeNames = 64

  /// The wait for the other family after one has an address: longer than a responsive server needs.
  static let resolutionDelay: Duration = .milliseconds(300)

  /// Names in the queue: a restart with 1,000 named targets requests all of them at the same moment.
  static let queuedNames = 1_024

  /// Requests without an answer, including several for one name: a limit on memory (about 200 bytes each) and on the
  /// scan for the next deadline.
  static let requestsOpen = 4_096

  /// Cached names: at about 300 bytes each, a little over 1 MiB.
  static let cacheEntries = 4_096

  /// Addresses stored per family: more than any load balancer returns; a TCP answer could contain 4,000.
  static let addressesPerFamily = 64

  /// Errors of a socket that are discarded at a time: routers send a few a second.
  static let queuedErrors = 16

  /// Search domains in use: most systems limit them to 256 characters in resolv.conf(5), and each costs a query.
  static let searchDomains = 16

  /// Bytes requested for the DNS socket's receive buffer.
  ///
  /// The kernel grants at most `net.core.rmem_max` (212,992 by default), doubled for its bookkeeping, which is enough
  /// for more than 128 answers.
  static let dnsReceiveBuffer: Int32 = 1 << 20

  /// Attempts per DNS server.
  ///
  /// c-ares doubles its timeout in every round: 1 + 2 + 4 = 7 shares of the timeout.
  static let dnsTries = 3
  static let dnsTimeoutDivisor = 7

  /// A share below 100 ms fails for distant servers; above 2 s one lost datagram delays the answer too much.
  static let dnsServerTimeout: ClosedRange<Duration> = .milliseconds(100) ... .seconds(2)

  /// Bytes of resolv.conf(5) that are searched for servers: it has three of them, and comments.
  static let resolvConfBytes = 16_384

  /// Bytes of inotify(7) events per read: 16 and a name of up to 256 each; the rest stays in the kernel's queue.
  static let inotifyBytes = 4_096

  /// Symbolic links followed in a path, as in the kernel (path_resolution(7)).
  static let symbolicLinks = 40

  /// The longest name without its final dot, and the longest label, in bytes (RFC 1035 section 2.3.4; 255 on the wire).
  static let nameBytes = 253
  static let labelBytes = 63

  /// Events per epoll wait: there are as many descriptors as DNS servers, and one of our own.
  static let resolverEvents = 16

  /// The longest effective deadline: arithmetic on longer ones could overflow the kernel's clocks.
  static let longestTimeout: Duration = .seconds(3_600)
}
