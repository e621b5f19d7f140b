extension Duration {
  /// In milliseconds with three decimals: `0.412`.
  package var inMilliseconds: String {
    let microseconds = max(0, Int64(self / .microseconds(1)))
    let fraction = String(microseconds % 1_000)
    return "\(microseconds / 1_000).\(String(repeating: "0", count: 3 - fraction.utf8.count))\(fraction)"
  }
}
