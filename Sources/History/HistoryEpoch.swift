/// The random name of a sequence of event numbers: the same number with another epoch is another event.
public enum HistoryEpoch {
  /// Returns a new epoch: eight hexadecimal digits.
  public static func random() -> String {
    let digits = String(UInt32.random(in: .min ... .max), radix: 16)
    return String(repeating: "0", count: 8 - digits.utf8.count) + digits
  }
}
