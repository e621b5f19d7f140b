internal import EventLoop
internal import Glibc
internal import ReachabilityModel

/// System calls: interrupted calls are repeated, programming errors stop the process, and refusals become values.
enum NetlinkSyscall {
  /// Repeats a call until no signal interrupts it.
  ///
  /// EBADF and EFAULT are errors of this program (a descriptor closed too early, freed memory). Continuing could write
  /// to an unrelated file, so the process ends.
  ///
  /// - Parameter call: a call that returns -1 and sets errno on failure.
  /// - Returns: what the call returned, or the errno negated.
  @inline(__always)
  static func raw(_ call: () -> Int) -> Int {
    while true {
      let result = call()
      if result >= 0 { return result }
      let code = errno
      if code == EINTR { continue }
      precondition(code != EBADF && code != EFAULT, "a descriptor or a buffer was released too early")
      return -Int(code)
    }
  }

  /// As ``raw(_:)`` for calls that return an `Int32`.
  @inline(__always)
  static func raw(_ call: () -> Int32) -> Int {
    raw { () -> Int in Int(call()) }
  }

  /// Makes a call that must succeed.
  ///
  /// - Throws: a ``KernelError`` with the operation and the errno.
  @discardableResult
  static func check(_ operation: String, _ call: () -> Int32) throws(KernelError) -> Int {
    let result = raw(call)
    guard result >= 0 else { throw KernelError(operation, errno: Int32(-result)) }
    return result
  }
}

extension KernelError {
  /// An error with the text of strerror.
  init(_ operation: String, errno code: Int32) {
    // glibc's strerror is thread-safe since 2.32.
    self.init(
      operation: operation, errno: code, message: unsafe strerror(code).map { unsafe String(cString: $0) } ?? "")
  }

  /// The same failure as an error of the source.
  init(_ error: EventLoopError) { self.init(error.operation, errno: error.errno) }

  /// An error for an invalid response of the kernel.
  static func malformed(_ operation: String) -> KernelError {
    KernelError(operation: operation, errno: 0, message: "the kernel's answer is malformed")
  }
}

/// A file descriptor that is closed with its last reference.
final class NetlinkDescriptor: Sendable {
  let number: Int32

  /// Takes over an open descriptor.
  init(_ number: Int32) { self.number = number }

  deinit { close(number) }
}
