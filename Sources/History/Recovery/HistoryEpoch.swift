internal import ReachabilityModel

/// The random name of a sequence of event numbers: the same number with another epoch is another event.
public enum HistoryEpoch {
  /// Whether a text is one: a damaged file may have any, and ids consist of it.
  static func isValid(_ text: String) -> Bool {
    text.utf8.count == 8 && text.utf8.allSatisfy { $0.isASCIIDigit || (0x61...0x66).contains($0) }
  }

  /// Returns a new epoch: eight hexadecimal digits.
  public static func random() -> String {
    let digits = String(UInt32.random(in: .min ... .max), radix: 16)
    return String(repeating: "0", count: 8 - digits.utf8.count) + digits
  }
}
