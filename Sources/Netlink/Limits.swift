/// Every limit of this module, with its unit and its reason.
enum Limits {
  /// Bytes requested for the receive buffer of the event socket.
  ///
  /// A burst of 200,000 route events loses thousands in 16 MiB and none in 64 MiB. The kernel uses the memory only
  /// while messages are queued.
  static let eventBuffer = 64 << 20
  /// Bytes requested for the receive buffer of a query socket: 64 responses of up to 8 KiB may be queued.
  static let queryBuffer = 1 << 20
  /// Bytes of the first receive buffer in user space.
  ///
  /// The kernel makes no dump part larger than the buffer that it sees, and at most 32 KiB.
  static let datagram = 32 << 10
  /// The largest datagram, in bytes, for which the buffer grows; a message of 16 MiB cannot describe a network
  /// interface.
  static let largestDatagram = 16 << 20
  /// Lookup requests per send: with 64 each costs 1.6 times less than with one, and more bring no further gain.
  static let requestsPerSend = 64
  /// Links of one batch that are requested individually; for more, all links are read.
  static let linksReadIndividually = 4
  /// How long a response may take after the kernel has received the request.
  ///
  /// The kernel responds in microseconds. A process that holds the RTNL lock delays the request inside sendto(2), where
  /// no timeout applies.
  static let queryTimeout = Duration.seconds(2)
  /// How often a dump is repeated when the kernel reports that a change interrupted it.
  ///
  /// After the last attempt the inconsistent dump is used: the change that interrupted it has an event of its own,
  /// which leads to the next reading, and that reads everything again.
  static let dumpAttempts = 8
  /// Datagrams drained before a reading is made although more are queued, so that a flood cannot delay it indefinitely.
  static let datagramsPerBatch = 4096
  /// IPv6 neighbours stored as failed: as many as the kernel stores in total (`net.ipv6.neigh.default.gc_thresh3`).
  static let failedNeighbours = 1024
  /// How often the failed IPv6 neighbours are read while there are some: a short dump, for a state that has no event and
  /// lasts about three seconds.
  static let neighbourCheck = Duration.milliseconds(250)
  /// How often everything is read without an event that requires it, to detect missed events.
  ///
  /// 33 µs for the tables of a small machine, 32 ms for 100,000 routes.
  static let auditInterval = Duration.seconds(60)
  /// How long a kernel that does not respond counts as busy and not as broken.
  static let busyTimeout = Duration.seconds(10)
  /// How long after a failed reading the next attempt is made.
  static let retryDelay = Duration.seconds(1)
  /// The minimum time between two log lines about lost events; a flood loses some in every batch.
  static let logWindow = Duration.seconds(60)
  /// Events taken from epoll in one wait: one for each descriptor of the thread.
  static let polledEvents = 3
  /// How often the idle thread updates ``KernelCounters/lastProgress``, and so how old that value may be.
  static let heartbeat = Duration.seconds(10)
  /// A second of CLOCK_REALTIME that is never reached: in the year 2242, 20 years before the kernel's nanoseconds
  /// overflow.
  static let distantFuture = 8_589_934_592
  /// The shortest suspend that is detected: the two clocks that show it are not read at the same instant.
  static let sleepThreshold = Duration.milliseconds(100)
  /// How much longer than the heartbeat a wait must last before this process counts as stopped.
  ///
  /// On a busy machine a thread waits for a processor, but not for this long.
  static let stopThreshold = Duration.seconds(5)
  /// Bytes read from a sysfs file; `uevent` of a network device has about 60.
  static let sysfsFile = 4096

  /// Source ports for which the leg of a multipath route is looked up; with two equal legs, one of 65,536 destinations is not
  /// looked up for both.
  static let multipathPorts: [UInt16] = (0..<16).map { 33_000 + 1_000 * $0 }
}
