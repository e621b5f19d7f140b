internal import Glibc

/// What a test's surroundings could not do.
public struct TestError: Error, CustomStringConvertible {
  /// What went wrong, in words.
  public let description: String

  /// An error in words.
  public init(_ description: String) { self.description = description }

  /// The last system call's error.
  static func system(_ operation: String, _ code: Int32 = errno) -> TestError {
    TestError("\(operation): \(unsafe strerror(code).map { unsafe String(cString: $0) } ?? "\(code)")")
  }
}
