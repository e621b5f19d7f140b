internal import Glibc

/// What a service manager told this process, and how to tell it something (sd_notify(3), sd_listen_fds(3)).
public struct ServiceManager: Sendable {
  /// How often the manager wants a sign of life; nil when it wants none.
  public let watchdog: Duration?
  /// Listening sockets that the manager opened for us, in its order.
  public let sockets: [Int32]
  /// Where to tell; nil when nobody listens.
  private let address: String?

  /// The first descriptor that a manager passes on (SD_LISTEN_FDS_START).
  private static let firstSocket: Int32 = 3
  /// More sockets than a service can have ports.
  private static let maximumSockets: Int32 = 1024

  /// Reads `NOTIFY_SOCKET`, `WATCHDOG_USEC`, `WATCHDOG_PID`, `LISTEN_FDS` and `LISTEN_PID`.
  ///
  /// What is meant for another process, or is no number, is as if it were not there. The sockets are not handed on to
  /// programs that are executed.
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

  /// Tells the manager `READY=1`, `STOPPING=1`, `WATCHDOG=1`, `STATUS=…`; several are separated by newlines.
  ///
  /// - Returns: whether it was sent. A manager that is gone, or busy, is no reason to do anything else.
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

  /// A path, or after `@` a name in the abstract space (unix(7)); nil when it is too long.
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
