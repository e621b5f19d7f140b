internal import ReachabilityModel
internal import StatusAPI

extension Setting {
  /// The settings of the data directory.
  static let store: [Setting] = [
    Setting("data", optional: \.data, path("the path of a directory")),
    Setting("store.runtime", optional: \.storeRuntime, path("the path of a directory on a tmpfs")),
    Setting(
      "store.maxSize", optional: \.storeMaxSize,
      FieldFormat("a size from 16MiB to 1024GiB, such as 512MiB or 4GiB") { text in
        size(text).flatMap { (16 << 20...1 << 40).contains($0) ? $0 : nil }
      }),
    Setting(
      "store.keep", optional: \.storeKeep,
      FieldFormat("a duration from 1h to 3650d, such as 400d") { text in
        days(text).flatMap { (.seconds(3600)...(.seconds(3650 * 86_400))).contains($0) ? $0 : nil }
      }),
  ]

  /// A number of bytes with a unit.
  static func size(_ text: String) -> Int64? {
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    let shifts: [Substring: Int64] = ["KiB": 10, "MiB": 20, "GiB": 30]
    guard (1...9).contains(digits.utf8.count), let number = Int64(digits),
      let shift = shifts[text.dropFirst(digits.count)]
    else { return nil }
    return number << shift
  }

  /// A duration that may be a number of days.
  static func days(_ text: String) -> Duration? {
    guard text.hasSuffix("d") else { return DurationFormat.parse(text) }
    let digits = text.dropLast()
    guard (1...5).contains(digits.utf8.count), digits.isDecimal else {
      return nil
    }
    return Int64(digits).map { .seconds($0 * 86_400) }
  }
}
