internal import Glibc

/// The reason why a server could not be started: the operation, its object and the cause.
public struct HTTPServerError: Error, Sendable, Equatable, CustomStringConvertible {
  /// What was attempted, for example `bind`.
  public var operation: String
  /// The address or object it was attempted on.
  public var object: String
  /// The system's error number, if a system call failed.
  public var code: Int32?
  /// What went wrong and, where possible, how to fix it.
  public var reason: String

  /// `operation object: reason`.
  public var description: String { "\(operation) \(object): \(reason)" }

  init(operation: String, object: String, reason: String) {
    self.operation = operation
    self.object = object
    self.reason = reason
  }

  init(operation: String, object: String, errno code: Int32) {
    self.operation = operation
    self.object = object
    self.code = code
    self.reason = Self.text(code)
  }

  private static func text(_ code: Int32) -> String {
    // 128 bytes hold glibc's longest message in every known locale; a longer one is truncated.
    var buffer = [CChar](repeating: 0, count: 128)
    guard unsafe strerror_r(code, &buffer, buffer.count) == 0 else { return "error \(code)" }
    return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
