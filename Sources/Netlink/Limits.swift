/// Every bound of this room, with its unit and its reason.
enum Limits {
  /// Bytes asked for as receive buffer of the event socket.
  ///
  /// A flood of 200,000 route events loses thousands in 16 MiB and none in 64 MiB. The kernel takes the memory only while messages wait.
  static let eventBuffer = 64 << 20
  /// Bytes asked for as receive buffer of a query socket: 64 answers of up to 8 KiB wait at once.
  static let queryBuffer = 1 << 20
  /// Bytes of the first receive buffer in user space; the kernel makes no dump part larger than the buffer it sees, at most 32 KiB.
  static let datagram = 32 << 10
  /// The largest datagram in bytes that the buffer grows to; one message of 16 MiB is no network interface any more.
  static let largestDatagram = 16 << 20
  /// Lookup requests for one send: 64 cost 1.6 times less each than one, more gain nothing.
  static let requestsPerSend = 64
  /// Links of one batch that are asked about one by one; for more all are read at once.
  static let linksReadIndividually = 4
  /// How long an answer may take once the kernel has the question.
  ///
  /// It answers in microseconds. Whoever holds the RTNL lock delays it where no limit helps, inside sendto(2).
  static let queryTimeout = Duration.seconds(2)
  /// How often a dump is begun again when the kernel says that it was interrupted by a change.
  ///
  /// After the last time the torn dump is taken: whatever tore it has an event of its own that leads to the next reading,
  /// which reads everything again.
  static let dumpAttempts = 8
  /// Datagrams drained before a reading is made although more wait, so that a flood cannot put it off for ever.
  static let datagramsPerBatch = 4096
  /// IPv6 neighbours that are remembered as failed: as many as the kernel has of all (`net.ipv6.neigh.default.gc_thresh3`).
  static let failedNeighbours = 1024
  /// How often everything is read without an event that asks for it, to find out whether one was missing.
  ///
  /// 33 µs for the tables of a small machine, 32 ms for 100,000 routes.
  static let auditInterval = Duration.seconds(60)
  /// How long a kernel that does not answer counts as busy and not as broken.
  static let busyTimeout = Duration.seconds(10)
  /// How long after a failed reading the next one is tried.
  static let retryDelay = Duration.seconds(1)
  /// At most one log line about lost events in this time; a flood loses some in every batch.
  static let logWindow = Duration.seconds(60)
  /// Events taken from epoll in one wait: one for each descriptor of the thread.
  static let polledEvents = 3
  /// How often the idle thread shows that it lives (``KernelCounters/lastProgress``), and so how old that may honestly be.
  static let heartbeat = Duration.seconds(10)
  /// A second of CLOCK_REALTIME that never comes: in the year 2242, 20 years before the kernel's nanoseconds run out.
  static let distantFuture = 8_589_934_592
  /// The shortest sleep that counts: the two clocks that show one are not read at the same instant.
  static let sleepThreshold = Duration.milliseconds(100)
  /// How much longer than the heartbeat a wait must last before this process counts as one that was stopped: a busy
  /// machine lets a thread wait for its turn, but not for so long.
  static let stopThreshold = Duration.seconds(5)
  /// Bytes read of a sysfs file; `uevent` of a network device has about 60.
  static let sysfsFile = 4096
}
