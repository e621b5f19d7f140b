/// Every bound of this room, with its unit and its reason.
enum Limits {
  /// Names asked at once.
  ///
  /// Each costs two datagrams (A and AAAA), so 128 are on the way at most: c-ares keeps one UDP
  /// socket per server, and with 512 answers on their way a default receive buffer drops some.
  static let activeNames = 64

  /// How long the other family is waited for, once one has an address: more than a server needs that answers at all.
  static let resolutionDelay: Duration = .milliseconds(300)

  /// Names waiting for their turn: a restart with 1,000 named targets asks for all of them in the same moment.
  static let queuedNames = 1_024

  /// Requests not yet answered, several for one name included: a bound on memory (about 200 bytes each) and on the
  /// scan for the next deadline.
  static let requestsOpen = 4_096

  /// Names remembered: at about 300 bytes each a little over 1 MiB.
  static let cacheEntries = 4_096

  /// Addresses kept of one family: more than any load balancer hands out; a TCP answer could hold 4,000.
  static let addressesPerFamily = 64

  /// Search domains tried: resolv.conf(5) has room for 256 characters of them in most systems, and each costs a query.
  static let searchDomains = 16

  /// Bytes asked for as the DNS socket's receive buffer; the kernel grants at most `net.core.rmem_max` (212,992 by
  /// default), doubled for its bookkeeping, which holds more than 128 answers.
  static let dnsReceiveBuffer: Int32 = 1 << 20

  /// Times each DNS server is asked.
  ///
  /// c-ares doubles its patience in every round: 1 + 2 + 4 = 7 shares of the timeout.
  static let dnsTries = 3
  static let dnsTimeoutDivisor = 7

  /// A share below 100 ms gives up on servers that are merely far away; above 2 s one lost datagram costs too much.
  static let dnsServerTimeout: ClosedRange<Duration> = .milliseconds(100) ... .seconds(2)

  /// Bytes of resolv.conf(5) in which servers are looked for: it has three of them, and comments.
  static let resolvConfBytes = 16_384

  /// Bytes of inotify(7) events read at once: 16 and a name of up to 256 each; the rest stays in the kernel's queue.
  static let inotifyBytes = 4_096

  /// Symbolic links followed on the way to a file, as the kernel does (path_resolution(7)).
  static let symbolicLinks = 40

  /// Longest name without its final dot, and longest label, in bytes (RFC 1035 section 2.3.4; 255 on the wire).
  static let nameBytes = 253
  static let labelBytes = 63

  /// Events the resolver takes from epoll in one wait: there are as many descriptors as DNS servers, and one of our own.
  static let resolverEvents = 16

  /// Longest deadline in effect: arithmetic on longer ones could overflow the kernel's clocks.
  static let longestTimeout: Duration = .seconds(3_600)
}
