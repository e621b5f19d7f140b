internal import Synchronization

/// The id that links a request to its log lines: the client's own if it is valid, otherwise a generated one.
enum RequestID {
  /// The maximum length; longer ids are replaced, because they would only fill the log.
  static let lengthLimit = 128

  static func of(_ request: HTTPRequest) -> String {
    guard let given = request.headers["X-Request-Id"], (1...lengthLimit).contains(given.utf8.count),
      given.utf8.allSatisfy({ (0x21...0x7e).contains($0) && $0 != 0x22 && $0 != 0x2c })
    else { return generate() }
    return given
  }

  /// Returns fifteen hexadecimal digits, unique in this process and most likely across processes.
  ///
  /// A mixed counter (SplitMix64): random numbers cost a system call each, sixteen digits an allocation.
  static func generate() -> String {
    var mixed = next.wrappingAdd(0x9e37_79b9_7f4a_7c15, ordering: .relaxed).newValue
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    mixed ^= mixed >> 31
    return String(mixed >> 4 | 1 << 59, radix: 16)
  }

  private static let next = Atomic(UInt64.random(in: .min ... .max))
}
