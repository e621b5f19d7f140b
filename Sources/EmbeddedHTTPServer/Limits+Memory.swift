// The memory of connections, and their displacement.
extension Limits {
  /// Bytes of memory that all connections may use: ``connections`` of them, and 64 MiB of bodies.
  ///
  /// The longest response, the metrics of 10,000 targets, has 2 MiB. The service lowers it to what the limit of its control
  /// group leaves.
  static let memory = connections * connectionBytes + 64 << 20

  /// Bytes that a connection occupies: ``connectionMemory``, 1.3 KiB of objects, and 3.8 KiB in the kernel.
  ///
  /// Measured at 15.6 KiB, resident and in the kernel, after its first request. Before, it is 9 KiB.
  static let connectionBytes = 16 * 1024

  /// Bytes that a connection occupies under TLS.
  static let secureConnectionBytes = 48 * 1024

  /// Bytes that a taken-over stream occupies: its slot, its objects, and 3.8 KiB in the kernel.
  static let streamBytes = 5 * 1024

  /// Bytes that a stream occupies under TLS, where libmicrohttpd serves it.
  ///
  /// Measured at 27 KiB, with a part of what the kernel uses.
  static let secureStreamBytes = 30 * 1024

  /// The divisor for the part of the memory that streams leave to requests: streams stay, and a request must be answered.
  static let requestShare = 4

  /// Bytes that the kernel buffers for a stream whose client does not read: twice ``streamSendBuffer`` (socket(7)).
  static let stalledStreamBytes = 2 * Int(streamSendBuffer)

  /// The divisor for the part of the memory that the sockets of such streams may use.
  static let stalledShare = 4

  /// Bytes from which a response is counted until it is sent; shorter ones fit into the socket's send buffer.
  static let countedResponse = 8 * 1024

  /// Bytes of a response's head, where only its body is counted.
  static let responseHead = 256

  /// Bytes of responses after which the server examines how much of them the client has not received.
  ///
  /// Each examination is a system call. What was not examined is examined by the next ``memoryAudit``.
  static let uncheckedOutput = 32 * 1024

  /// Bytes in a socket's buffers that are not counted: what a client sends or has yet to acknowledge at any moment.
  static let freeSocketBytes = 4 * 1024

  /// The kernel's bytes for each byte in a socket's buffer: a segment may be half empty.
  static let socketOverhead = 2

  /// Bytes of kernel buffer for what a client sends, after they were limited while its response was due.
  static let receiveBuffer: Int32 = 64 * 1024

  /// Sockets of closed connections that still send a response of some length; each is a descriptor of the reserve.
  static let unsentSockets = 64

  /// Milliseconds for which a client may acknowledge none of the bytes that were sent to it (tcp(7), TCP_USER_TIMEOUT); streams
  /// have no limit.
  ///
  /// It is longer than ``inactivitySeconds``. After the close of a connection, the kernel would try for minutes.
  static let unacknowledged: Int32 = 20_000

  /// The interval at which the sockets' buffers and the limit of memory are examined.
  static let memoryAudit = Duration.seconds(1)

  /// Connections from which the sockets' buffers are examined; the buffers of fewer hold at most some megabytes.
  static let auditedConnections = 64

  /// The minimum time between two readings of the limit of memory, which may need a lock.
  static let memoryReading = Duration.milliseconds(100)

  /// The divisor for the part of a limit that is freed at a time when it is exceeded: a search for the oldest connections
  /// examines all of them.
  static let displacedShare = 16

  /// The divisor for the part of a limit that unfinished exchanges keep while there are long polls.
  static let protectedShare = 4
}
