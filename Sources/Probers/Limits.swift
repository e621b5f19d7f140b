internal import ReachabilityModel

/// Every bound of this room, with its unit and its reason.
enum Limits {
  /// Longest deadline in effect: arithmetic on longer ones could overflow the kernel's clocks.
  static let longestTimeout: Duration = .seconds(3_600)

  /// Longest text accepted as a URL, in bytes: more than any server of ours accepts as a request line.
  static let urlBytes = 8_192

  /// Events the prober takes from epoll in one wait: 3 KiB; more are taken before any time is called over.
  static let proberEvents = 256

  /// Checks with a socket of their own at once in one prober, as far as the descriptor limit allows so many.
  ///
  /// Each costs about 4 KiB here and in the kernel.
  static let socketsOpen = 1_024

  /// Descriptors that are not for checks: listeners, HTTP clients, netlink, the log.
  static let descriptorsReserved = 256

  /// Probers that share the remaining descriptors: a service has one for its targets and one for its callers' checks.
  static let probers = 2

  /// The longest wait for a turn: 65,536 checks of 10 s each take 11 minutes at 1,024 a time.
  static let longestTurn: Duration = .seconds(900)

  /// Echo requests' targets at once: the sequence has 65,536 numbers, and one that comes back late must be known as late.
  static let echoesOpen = 32_768

  /// Threads for ICMP, as far as there are processors: of one's time two thirds go into the kernel's sending.
  static let echoThreads = 2

  /// Places for echo requests under way, at first: 12 KiB; they double when half of them are taken, up to all numbers.
  static let echoSlots = 256

  /// Names of checks at the resolver at once: it would refuse more than 1,024, and there are other askers.
  static let checksResolving = 512

  /// Checks of one address at once: as many as a browser opens connections to a proxy; a check must not be a flood.
  static let checksPerAddress = 32

  /// Checks waiting for their turn at one gate: at about 1 KiB each, 64 MiB at worst.
  static let checksWaiting = 65_536

  /// Addresses of one name that are tried, when those before cannot be reached at all.
  static let addressesTried = 4

  /// Checks begun between two looks at what is ready: their targets would be blamed for the time that
  /// the others' beginning takes.
  static let startsPerTurn = 64

  /// How late the thread may be before it takes the time for its own loss and gives it back to the checks.
  static let stall: Duration = .milliseconds(100)

  /// The longest wait while checks are under way: what passes in a longer one is a stop of this process.
  static let heartbeat: Duration = .milliseconds(250)

  /// Bytes of a TCP answer that are kept to be matched.
  static let dialogueBytes = 65_536

  /// Bytes wanted for the receive buffer of the ICMP sockets; the kernel grants at most `net.core.rmem_max`.
  static let echoReceiveBuffer: Int32 = 1 << 22

  /// Batches of replies taken at once, before others have their turn: 1,024 replies.
  static let echoBatches = 16

  /// Entries of a socket's error queue taken at once.
  static let echoErrors = 64

  /// Times a packet is tried that the kernel refuses: the first refusals may be for others' packets.
  static let echoSendTries = 3

  /// Echo requests of one check, bytes of payload (a packet of 1,500 bytes), and the shortest pause between two.
  static let echoCount = 100
  static let echoPayload = ICMPOptions.largestPayload
  static let echoPause: Duration = .milliseconds(1)

  /// How long a DNS server may be silent before it is asked again; doubled each time.
  static let dnsRepeat: Duration = .seconds(1)

  /// Packets of a DNS server that are taken in one go; answers of one packet; bytes told of data of an unknown type.
  static let dnsPackets = 64
  static let dnsAnswers = 256
  static let unknownDataBytes = 64

  /// The longest name that is read from a certificate, in bytes: the DNS has no longer one (RFC 1035 section 2.3.4).
  static let nameBytes = 253

  /// Certificates of a chain that are read, names of one that are told at all, and in words.
  static let certificates = 16
  static let certificateNames = 100
  static let namesReported = 5

  /// Names of a certificate among which a DNS name is looked for: no authority gives more to one.
  static let certificateNamesSought = 1_000

  /// Ways from a certificate upwards that are tried, each with one or two verifications: servers show two or three.
  static let certificationPaths = 16

  /// The last second that can be told: certificates without an end say that of the year 9999, in seconds since 1970.
  static let latestSecond = 253_402_300_799

  /// Authorities' files kept read: each is some MiB.
  static let trustStores = 8

  /// Records of a handshake that are read in one go, about 1 KiB of each as a rule: long chains come in more.
  static let handshakeSteps = 32

  /// Warnings that a peer may send in one go while shaking hands.
  static let handshakeWarnings = 16

  /// Bytes of an HTTP answer's head and of its body that are read.
  static let httpHeadBytes = 65_536
  static let httpBodyBytes = 1 << 20

  /// Transfers of libcurl in one group: each costs the others of its group some nanoseconds when one of them ends.
  static let curlGroup = 64

  /// Handles of libcurl kept for the next transfer: each is about 6 KiB.
  static let curlHandles = 64

  /// Bytes taken from a socket in one call.
  static let readBytes = 16_384

  /// How long an answer that comes in drops is let grow before it is matched again.
  static let matchPause: Duration = .milliseconds(20)

  /// Regular expressions kept compiled, and the longest of them in bytes.
  static let patternsKept = 1_024
  static let patternBytes = 4_096

  /// What one match may cost (pcre2api(3)): steps, depth, and KiB of heap; a bad pattern takes about 50 ms.
  static let matchSteps: UInt32 = 1_000_000
  static let matchDepth: UInt32 = 10_000
  static let matchKibibytes: UInt32 = 4_096
}
