extension ReachabilityFlags {
  /// The one-letter-per-flag formats of earlier libraries, which differ in order and length.
  public enum CompactStyle: String, Sendable, CaseIterable {
    /// Alamofire: `WR ctiCDlda`, with `a` for the older name of `C`.
    case alamofire = "WR ctiCDlda"
    /// Reachability.swift and tonymillion/Reachability: `WR ctiCDld`.
    case reachabilitySwift = "WR ctiCDld"
    /// Apple's sample: `WR tcCiDld`.
    case appleSample = "WR tcCiDld"
  }

  /// One letter for each flag that is set, `-` for each that is not: `-R -----l-`.
  ///
  /// - Parameter style: the order of the letters.
  /// - Returns: the letters.
  public func compactDescription(_ style: CompactStyle) -> String {
    String(
      style.rawValue.map { letter in
        guard let flag = Self.flag(for: letter) else { return letter }
        return contains(flag) ? letter : "-"
      })
  }

  /// The flags in Alamofire's debug format: `WR ctiCDlda`.
  public var readableDescription: String { compactDescription(.alamofire) }

  private static func flag(for letter: Character) -> ReachabilityFlags? {
    switch letter {
    case "W": .isWWAN
    case "R": .reachable
    case "c": .connectionRequired
    case "t": .transientConnection
    case "i": .interventionRequired
    case "C": .connectionOnTraffic
    case "D": .connectionOnDemand
    case "l": .isLocalAddress
    case "d": .isDirect
    case "a": .connectionOnTraffic
    default: nil
    }
  }

  /// The flags as macOS's `scutil -r` writes them, joined by commas; `Not Reachable` when none is set.
  ///
  /// Bits without a name come last, as `0x` and eight hexadecimal digits.
  public var scutilDescription: String {
    guard !isEmpty else { return "Not Reachable" }
    var words = Self.scutilWords.filter { contains($0.flag) }.map(\.word)
    let rest = Self.scutilWords.reduce(self) { $0.subtracting($1.flag) }.rawValue
    if rest != 0 {
      let digits = String(rest, radix: 16)
      words.append("0x" + String(repeating: "0", count: 8 - digits.count) + digits)
    }
    return words.joined(separator: ",")
  }

  /// The order of scutil, which differs from that of the bits.
  private static let scutilWords: [(flag: ReachabilityFlags, word: String)] = [
    (.reachable, "Reachable"), (.transientConnection, "Transient Connection"),
    (.connectionRequired, "Connection Required"), (.connectionOnTraffic, "Automatic Connection On Traffic"),
    (.connectionOnDemand, "Automatic Connection On Demand"), (.interventionRequired, "Intervention Required"),
    (.isLocalAddress, "Local Address"), (.isDirect, "Directly Reachable Address"), (.isWWAN, "WWAN"),
  ]
}

extension ReachabilityFlags: CustomStringConvertible, CustomDebugStringConvertible {
  /// The flags as macOS's `scutil -r` writes them: `Reachable,Directly Reachable Address`.
  public var description: String { scutilDescription }

  /// The flags in the format of Apple's sample: `-R ------d`.
  public var debugDescription: String { compactDescription(.appleSample) }
}
