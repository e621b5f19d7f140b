internal import Glibc

/// The file of a Unix-domain socket (unix(7)).
///
/// A server that was killed leaves its file behind. The file is removed only if no process accepts connections there,
/// and under a lock of the directory. So if two servers start at the same time, the second one detects the first.
struct ListeningSocketFile: Sendable {
  let path: String
  /// Identifies the file, so that another server's file is never removed.
  private let device: UInt64
  private let inode: UInt64

  /// Binds `descriptor` to a path and listens, with the file's mode set before the first client can connect.
  init(binding descriptor: Int32, to path: String, mode: UInt32) throws(HTTPServerError) {
    guard let address = UnixSocketAddress(path) else {
      throw HTTPServerError(
        operation: "bind", object: path, reason: "the path is longer than \(UnixSocketAddress.longestPath) bytes")
    }
    let lock = try DirectoryLock(of: path)
    defer { lock.release() }
    try Self.clear(path, address)
    func failed(_ operation: String) -> HTTPServerError {
      HTTPServerError(operation: operation, object: path, errno: errno)
    }
    guard unsafe address.withSockaddr({ unsafe bind(descriptor, $0, $1) }) == 0 else { throw failed("bind") }
    var facts = stat()
    guard unsafe chmod(path, mode) == 0, unsafe lstat(path, &facts) == 0, listen(descriptor, Limits.backlog) == 0 else {
      let error = failed("listen")
      unsafe unlink(path)
      throw error
    }
    self.path = path
    device = UInt64(facts.st_dev)
    inode = UInt64(facts.st_ino)
  }

  /// Removes a file on which no process listens.
  private static func clear(_ path: String, _ address: UnixSocketAddress) throws(HTTPServerError) {
    var facts = stat()
    guard unsafe lstat(path, &facts) == 0 else { return }
    func refused(_ reason: String) -> HTTPServerError {
      HTTPServerError(operation: "bind", object: path, reason: reason)
    }
    guard facts.st_mode & S_IFMT == S_IFSOCK else { throw refused("the path exists and is not a socket") }
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    let descriptor = socket(AF_UNIX, kind, 0)
    guard descriptor >= 0 else { throw HTTPServerError(operation: "socket", object: path, errno: errno) }
    defer { close(descriptor) }
    let code = unsafe address.withSockaddr { unsafe connect(descriptor, $0, $1) } == 0 ? 0 : errno
    switch code {
    case ECONNREFUSED: unsafe unlink(path)
    case 0, EAGAIN: throw refused("another server answers there")
    default: throw HTTPServerError(operation: "connect", object: path, errno: code)
    }
  }

  /// Removes the file, unless another server's file has replaced it.
  func remove() {
    guard let lock = try? DirectoryLock(of: path) else { return }
    defer { lock.release() }
    var facts = stat()
    guard unsafe lstat(path, &facts) == 0, UInt64(facts.st_dev) == device, UInt64(facts.st_ino) == inode else { return }
    unsafe unlink(path)
  }
}

/// A lock of a directory against other servers that manage a socket in it (flock(2)); it creates no file.
private struct DirectoryLock {
  private let descriptor: Int32

  /// Waits for the lock, one second at most: another server holds it for a few system calls only.
  init(of path: String) throws(HTTPServerError) {
    let end = path.lastIndex(of: "/") ?? path.startIndex
    let directory = end == path.startIndex ? "/" : String(path[..<end])
    descriptor = unsafe open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw HTTPServerError(operation: "open", object: directory, errno: errno) }
    for _ in 0..<Limits.lockAttempts {
      if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return }
      usleep(Limits.lockPauseMicroseconds)
    }
    // Any process that may read the directory can lock it, so a lock that is held does not prevent serving. Two servers
    // that start at the same time may then both consider the file stale.
  }

  func release() {
    close(descriptor)
  }
}

struct UnixSocketAddress {
  /// The maximum length of a path in bytes, without the NUL.
  static let longestPath = 107

  private var address = sockaddr_un()

  /// Makes an address from a path; nil if the path is too long.
  init?(_ path: String) {
    let bytes = Array(path.utf8)
    guard (1...Self.longestPath).contains(bytes.count), !bytes.contains(0) else { return nil }
    address.sun_family = sa_family_t(AF_UNIX)
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
  }

  /// Returns the path that a socket is bound to; nil for another family or without a path.
  static func path(of storage: UnsafePointer<sockaddr>, size: socklen_t) -> String? {
    guard Int32(unsafe storage.pointee.sa_family) == AF_UNIX else { return nil }
    let offset = MemoryLayout<sa_family_t>.size
    let raw = unsafe UnsafeRawBufferPointer(start: storage, count: Int(size)).dropFirst(offset)
    let bytes = unsafe raw.prefix { $0 != 0 }
    return unsafe bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
  }

  /// Calls `body` with the address as the pointer and length that bind(2) and connect(2) take.
  func withSockaddr<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
    unsafe withUnsafePointer(to: address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
  }
}
