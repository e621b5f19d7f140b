/// Every limit of this module, with its unit and its reason.
enum Limits {
  /// The longest timeout of a request: arithmetic on longer ones could overflow the kernel's clocks.
  static let longestTimeout: Duration = .seconds(3_600)

  /// The longest URL, in bytes: more than any of our servers accepts as a request line.
  static let urlBytes = 8_192

  /// The longest time without data on an event stream: four of the service's heartbeats.
  static let streamSilence: Duration = .seconds(60)

  /// The longest frame of an event stream in bytes: a snapshot has a few kilobytes per interface.
  static let frameBytes = 8 << 20

  /// The latest time of a server, the end of the year 9999 in seconds since 1970: libcurl accepts years of ten digits.
  static let latestSecond = 253_402_300_799
}
