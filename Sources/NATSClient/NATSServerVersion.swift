internal import Glibc

/// The version of a server.
public struct NATSServerVersion: Hashable, Sendable, Comparable, CustomStringConvertible {
  /// The three numbers.
  public var major: Int
  /// See ``major``.
  public var minor: Int
  /// See ``major``.
  public var patch: Int

  /// Creates a version.
  public init(_ major: Int, _ minor: Int, _ patch: Int) {
    self.major = major
    self.minor = minor
    self.patch = patch
  }

  /// Parses `2.10.27` and `2.12.0-preview.1`; nil for another text.
  public init?(_ text: some StringProtocol) {
    let numbers = text.prefix { $0 != "-" }.split(separator: ".", omittingEmptySubsequences: false).map { Int($0) }
    guard numbers.count == 3, let major = numbers[0], let minor = numbers[1], let patch = numbers[2] else { return nil }
    self.init(major, minor, patch)
  }

  /// `2.10.27`.
  public var description: String { "\(major).\(minor).\(patch)" }

  /// Compares the numbers.
  public static func < (left: Self, right: Self) -> Bool {
    (left.major, left.minor, left.patch) < (right.major, right.minor, right.patch)
  }

  /// Reads the version from the first line that a server sends on a new connection, which it sends before TLS begins.
  ///
  /// The library does not provide it. It waits for some seconds at most; nil when the server sends no such line, as when it
  /// is configured to begin with TLS.
  ///
  /// - Parameter server: `nats://HOST:PORT` or `HOST:PORT`.
  public init?(of server: String) {
    let address = server.firstRange(of: "://").map { String(server[$0.upperBound...]) } ?? server
    guard let colon = address.lastIndex(of: ":") else { return nil }
    let host = address[..<colon].trimmingBrackets
    guard let line = Self.greeting(host, String(address[address.index(after: colon)...])),
      let name = line.firstRange(of: "\"version\":\"")
    else { return nil }
    self.init(line[name.upperBound...].prefix { $0 != "\"" })
  }

  private static func greeting(_ host: String, _ port: String) -> String? {
    var hints = unsafe addrinfo()
    unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var found: UnsafeMutablePointer<addrinfo>?
    guard unsafe getaddrinfo(host, port, &hints, &found) == 0 else { return nil }
    defer { unsafe freeaddrinfo(found) }
    var next = unsafe found
    while let address = unsafe next {
      if let line = unsafe greeting(address.pointee) { return line }
      unsafe next = unsafe address.pointee.ai_next
    }
    return nil
  }

  private static func greeting(_ address: addrinfo) -> String? {
    let descriptor = unsafe socket(address.ai_family, address.ai_socktype | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var limit = timeval(tv_sec: Int(Limits.connectTimeout / 1000), tv_usec: 0)
    for option in [SO_SNDTIMEO, SO_RCVTIMEO] {
      unsafe setsockopt(descriptor, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
    }
    guard unsafe connect(descriptor, address.ai_addr, address.ai_addrlen) == 0 else { return nil }
    var line: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 2048)
    while line.count < Limits.greetingBytes, !line.contains(UInt8(ascii: "\n")) {
      let count = unsafe read(descriptor, &buffer, buffer.count)
      guard count > 0 else { return nil }
      line += buffer[..<count]
    }
    return String(decoding: line, as: UTF8.self)
  }
}

extension Substring {
  /// The host of `[::1]` and of `::1`.
  fileprivate var trimmingBrackets: String { String(drop { $0 == "[" }.prefix { $0 != "]" }) }
}
