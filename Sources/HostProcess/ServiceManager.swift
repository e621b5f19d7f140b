internal import Glibc

/// The environment that a service manager sets, and notifications to it (sd_notify(3), sd_listen_fds(3)).
public struct ServiceManager: Sendable {
  /// The watchdog timeout; nil when the watchdog is off.
  public let watchdog: Duration?
  /// The listening sockets that the manager passed, in its order.
  public let sockets: [Int32]
  /// The address of the notification socket; nil when there is none.
  private let address: String?

  /// The first descriptor that a manager passes on (SD_LISTEN_FDS_START).
  private static let firstSocket: Int32 = 3
  /// An upper bound for the number of sockets, more than a service can use.
  private static let maximumSockets: Int32 = 1024

  /// Reads `NOTIFY_SOCKET`, `WATCHDOG_USEC`, `WATCHDOG_PID`, `LISTEN_FDS` and `LISTEN_PID`.
  ///
  /// Variables for another process, or with a value that is not a number, are ignored. The sockets are set
  /// close-on-exec.
  public init(environment: [String: String]) {
    let own = getpid()
    address = environment["NOTIFY_SOCKET"].flatMap { $0.hasPrefix("/") || $0.hasPrefix("@") ? $0 : nil }
    let watched = environment["WATCHDOG_PID"].map { Int32($0) == own } ?? true
    let microseconds = environment["WATCHDOG_USEC"].flatMap { Int64($0) } ?? 0
    watchdog = watched && microseconds > 0 ? .microseconds(microseconds) : nil
    let count = environment["LISTEN_FDS"].flatMap { Int32($0) } ?? 0
    let isOurs = environment["LISTEN_PID"].flatMap { Int32($0) } == own
    guard isOurs, (1...Self.maximumSockets).contains(count) else {
      sockets = []
      return
    }
    sockets = Array(Self.firstSocket..<Self.firstSocket + count)
    for socket in sockets { _ = fcntl(socket, F_SETFD, FD_CLOEXEC) }
  }

  /// Sends the manager `READY=1`, `STOPPING=1`, `WATCHDOG=1` or `STATUS=…`; newlines separate several.
  ///
  /// - Returns: whether it was sent. The caller may ignore a failure, which means that the manager is gone or busy.
  @discardableResult
  public func notify(_ state: String) -> Bool {
    guard let address, var target = Self.socketAddress(address) else { return false }
    let kind = Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    let descriptor = socket(AF_UNIX, kind, 0)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    let bytes = Array(state.utf8)
    let size = socklen_t(MemoryLayout<sa_family_t>.size + address.utf8.count)
    let sent = unsafe withUnsafePointer(to: &target) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { target in
        unsafe bytes.withUnsafeBytes {
          unsafe sendto(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL), target, size)
        }
      }
    }
    return sent == bytes.count
  }

  /// Parses a path, or after `@` a name in the abstract namespace (unix(7)); nil when it is too long.
  private static func socketAddress(_ text: String) -> sockaddr_un? {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(text.utf8)
    let fits = unsafe withUnsafeMutableBytes(of: &address.sun_path) { path in
      guard bytes.count < path.count else { return false }
      unsafe path.copyBytes(from: bytes)
      if bytes.first == UInt8(ascii: "@") { unsafe path[0] = 0 }
      return true
    }
    return fits ? address : nil
  }
}
