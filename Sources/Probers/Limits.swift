internal import ReachabilityModel

/// Every limit of this module, with its unit and its reason.
enum Limits {
  /// The longest effective deadline: arithmetic on longer ones could overflow the kernel's clocks.
  static let longestTimeout: Duration = .seconds(3_600)

  /// The longest URL, in bytes: more than any of our servers accepts as a request line.
  static let urlBytes = 8_192

  /// Events per epoll wait: 3 KiB; all further events are read before any deadline is evaluated.
  static let proberEvents = 256

  /// Concurrent checks with a socket of their own in one prober, if the descriptor limit allows so many.
  ///
  /// Each uses about 4 KiB here and in the kernel.
  static let socketsOpen = 1_024

  /// Descriptors that are not for checks: listeners, HTTP clients, netlink, the log.
  static let descriptorsReserved = 256

  /// Probers that share the remaining descriptors: a service has one for its targets, one for its clients' checks
  /// and one for webhooks.
  static let probers = 3

  /// The longest wait in the queue: 65,536 checks of 10 s each take 11 minutes with 1,024 running concurrently.
  static let longestTurn: Duration = .seconds(900)

  /// Concurrent ICMP targets: the sequence has 65,536 numbers, and a late reply must be recognized as late.
  static let echoesOpen = 32_768

  /// Threads for ICMP, if there are as many processors: sending in the kernel takes two thirds of a thread's time.
  static let echoThreads = 2

  /// Initial slots for pending echo requests: 12 KiB; their number doubles when half are in use, up to all numbers.
  static let echoSlots = 256

  /// Names of checks in the resolver: it refuses more than 1,024, and it has other clients.
  static let checksResolving = 512

  /// Concurrent checks of one address: as many as a browser's connections to a proxy; checks must not flood a target.
  static let checksPerAddress = 32

  /// Checks in the queue of one limiter: at about 1 KiB each, 64 MiB at most.
  static let checksWaiting = 65_536

  /// Addresses of one name that are contacted: names of content delivery networks have up to a dozen.
  static let addressesTried = 16

  /// The time after which the next address is contacted too (RFC 8305 §5, Connection Attempt Delay), and its minimum.
  static let attemptDelay: Duration = .milliseconds(250)
  static let shortestAttemptDelay: Duration = .milliseconds(10)

  /// Addresses that a message names.
  static let addressesReported = 4

  /// Checks started between two polls of ready descriptors: otherwise the time that starting takes would count as the
  /// targets' time.
  static let startsPerTurn = 64

  /// A delay of the thread that is longer than this is added to the deadlines of its checks.
  static let stall: Duration = .milliseconds(100)

  /// The longest wait while checks run: a longer one means that this process was stopped.
  static let heartbeat: Duration = .milliseconds(250)

  /// Bytes of a TCP answer that are stored for matching.
  static let dialogueBytes = 65_536

  /// Bytes requested for the receive buffer of the ICMP sockets; the kernel grants at most `net.core.rmem_max`.
  static let echoReceiveBuffer: Int32 = 1 << 22

  /// Batches of replies received consecutively before other work: 1,024 replies.
  static let echoBatches = 16

  /// Entries of a socket's error queue read consecutively.
  static let echoErrors = 64

  /// Attempts to send a packet that the kernel refuses: the first errors may belong to other packets.
  static let echoSendTries = 3

  /// Echo requests of one check, bytes of payload (a packet of 1,500 bytes), and the shortest interval between two.
  static let echoCount = 100
  static let echoPayload = ICMPOptions.largestPayload
  static let echoPause: Duration = .milliseconds(1)

  /// The wait for a DNS server before the query is repeated; doubled each time.
  static let dnsRepeat: Duration = .seconds(1)

  /// Packets of a DNS server read consecutively; answers decoded of a message, which has no more in 64 KiB; answers in the
  /// result; bytes reported of data of an unknown type.
  static let dnsPackets = 64
  static let dnsAnswers = 5_957
  static let dnsAnswersReported = 256
  static let unknownDataBytes = 64

  /// The longest name read from a certificate, in bytes, which is the limit of the DNS (RFC 1035 section 2.3.4).
  static let nameBytes = 253

  /// Certificates read from a chain, names of a certificate in the result, and names in a message.
  static let certificates = 16
  static let certificateNames = 100
  static let namesReported = 5

  /// Names of a certificate that are searched for a DNS name: no authority issues certificates with more.
  static let certificateNamesSought = 1_000

  /// Certification paths that are tried, each with one or two verifications: servers send two or three.
  static let certificationPaths = 16

  /// The latest reported time, the end of the year 9999 in seconds since 1970: certificates without an expiry have it.
  static let latestSecond = 253_402_300_799

  /// Cached authority files: each has some MiB.
  static let trustStores = 8

  /// Bytes of the messages of a TLS handshake, twice Java's limit for one: the 7,000 names of such a certificate are searched in
  /// 25 ms.
  static let handshakeMessageBytes = 65_536

  /// Bits of the key of a server's certificate, and bytes of an RSA key's exponent, which are OpenSSL's limits: a signature
  /// is verified in 2 ms.
  static let publicKeyBits: UInt32 = 16_384
  static let publicExponentBytes = 8

  /// Reads of TLS handshakes in one call of libcurl, two for each record: 10 ms with records of one byte; a usual handshake
  /// has twenty.
  static let handshakeReads = 8_192

  /// Bytes read after handshakes in one call of libcurl: 2 ms with the smallest frames of HTTP/2.
  static let recordBytes = 65_536

  /// Further attempts of such a call to read before its connection fails: libcurl makes a few.
  static let refusedReads = 1_000

  /// Handshake records read consecutively, usually about 1 KiB each: long chains take more.
  static let handshakeSteps = 32

  /// Consecutive warnings accepted from a peer during the handshake.
  static let handshakeWarnings = 16

  /// Bytes of an HTTP answer's head that are read.
  static let httpHeadBytes = 65_536

  /// Cookies that one check stores between redirects, and bytes of each: what browsers store at least for a host (RFC 6265 §6.1).
  static let cookies = 50
  static let cookieBytes = 4_096

  /// Transfers of libcurl in one group: when one ends, each of the others adds some nanoseconds.
  static let curlGroup = 64

  /// The time by which libcurl's own limit of a transfer exceeds the check's: it applies only where libcurl waits itself.
  static let transferTimeMargin: Duration = .milliseconds(100)

  /// Transfers stored for reuse, as many as one wait can start: each has about 7 KiB.
  static let curlTransfers = proberEvents

  /// Bytes per read from a socket.
  static let readBytes = 16_384

  /// The interval between two matches of an answer that arrives in small parts.
  static let matchPause: Duration = .milliseconds(20)

  /// Cached compiled regular expressions, and the longest of them in bytes.
  static let patternsKept = 1_024
  static let patternBytes = 4_096

  /// The limits of one match at one place of the text (pcre2api(3)): steps, depth, and KiB of heap; an expensive pattern
  /// takes about 50 ms.
  static let matchSteps: UInt32 = 1_000_000
  static let matchDepth: UInt32 = 10_000
  static let matchKibibytes: UInt32 = 4_096

  /// The time of a match at all places, and of one pattern in all header fields or records: words in a text of 1 MiB take 80 ms.
  static let matchTime: Duration = .milliseconds(250)
}
