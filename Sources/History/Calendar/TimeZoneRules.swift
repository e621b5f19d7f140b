/// The offsets of a time zone from UTC, from a file of the tz database (TZif, RFC 9636).
public struct TimeZoneRules: Hashable, Sendable {
  /// An offset from a moment on.
  struct Change: Hashable, Sendable {
    /// Seconds since 1970.
    var time: Int64
    /// Seconds to add to UTC.
    var offset: Int64
  }

  /// UTC, which needs no file.
  public static let utc = TimeZoneRules(offset: 0, changes: [], rule: nil)

  /// The offset before the first change.
  private let offset: Int64
  /// The changes that the file lists, ascending.
  private let changes: [Change]
  /// What follows after them.
  private let rule: TimeZoneYearRule?

  private init(offset: Int64, changes: [Change], rule: TimeZoneYearRule?) {
    self.offset = offset
    self.changes = changes
    self.rule = rule
  }

  /// Reads a file's content.
  ///
  /// - Parameter bytes: the content; nil is returned for another format, for the format of before 2005, which has only 32 bits
  ///   for a time, and for a file with leap seconds, whose times are not those of this system.
  public init?(tzif bytes: [UInt8]) {
    var reader = TZifReader(bytes)
    // The first block is for programs that know only 32 bits.
    guard let old = reader.header(), old.version >= 0x32, reader.skip(old.bytes(timeSize: 4)),
      let header = reader.header(),
      header.leapSeconds == 0, header.types > 0
    else { return nil }
    var times: [Int64] = []
    for _ in 0..<header.changes {
      guard let time = reader.integer(8) else { return nil }
      times.append(time)
    }
    guard times == times.sorted(), let indices = reader.take(header.changes) else { return nil }
    var offsets: [Int64] = []
    for _ in 0..<header.types {
      guard let offset = reader.integer(4), (-93_600...93_600).contains(offset), reader.skip(2) else { return nil }
      offsets.append(offset)
    }
    guard indices.allSatisfy({ $0 < offsets.count }), reader.skip(header.rest), let footer = reader.footer() else {
      return nil
    }
    let changes = zip(times, indices).map { Change(time: $0, offset: offsets[Int($1)]) }
    // Without a rule the last offset applies for ever.
    let rule = TimeZoneYearRule(footer)
    guard rule != nil || footer.isEmpty else { return nil }
    self.init(offset: offsets[0], changes: changes, rule: rule)
  }

  /// The first moment, in seconds since 1970, at which the clocks show a day; if they skip its midnight, the moment of that.
  func start(of day: CalendarDay) -> Int64 {
    // No offset is longer than 26 hours.
    let window = day.seconds - 100_000...day.seconds + 100_000
    var part = Change(time: window.lowerBound, offset: offset(at: window.lowerBound))
    for next in self.changes(in: window) {
      let start = max(part.time, day.seconds - part.offset)
      if start < next.time { return start }
      part = next
    }
    return max(part.time, day.seconds - part.offset)
  }

  private func offset(at time: Int64) -> Int64 {
    let last = changes.last?.time ?? .min
    let ruled = rule?.changes(around: time).last { $0.time <= time && $0.time > last }
    if let change = ruled ?? changes.last(where: { $0.time <= time }) { return change.offset }
    return changes.isEmpty ? rule?.standard ?? offset : offset
  }

  /// The changes within a few days.
  private func changes(in window: ClosedRange<Int64>) -> [Change] {
    let listed = changes.filter { window.contains($0.time) && $0.time > window.lowerBound }
    let end = changes.last?.time ?? .min
    let ruled = rule?.changes(around: window.lowerBound) ?? []
    return listed + ruled.filter { window.contains($0.time) && $0.time > window.lowerBound && $0.time > end }
  }
}

/// Reads the blocks of a TZif file.
private struct TZifReader {
  struct Header {
    var version: UInt8
    var changes = 0
    var types = 0
    var leapSeconds = 0
    /// The bytes of what this program does not need, after the types.
    var rest = 0

    func bytes(timeSize: Int) -> Int { changes * (timeSize + 1) + types * 6 + rest }
  }

  private var rest: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) { rest = bytes[...] }

  mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
    guard count <= rest.count else { return nil }
    defer { rest = rest.dropFirst(count) }
    return rest.prefix(count)
  }

  mutating func skip(_ count: Int) -> Bool { take(count) != nil }

  /// A signed number, big-endian.
  mutating func integer(_ size: Int) -> Int64? {
    guard let bytes = take(size) else { return nil }
    let value = bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    return size == 4 ? Int64(Int32(truncatingIfNeeded: value)) : Int64(bitPattern: value)
  }

  mutating func header() -> Header? {
    guard let magic = take(4), magic.elementsEqual("TZif".utf8), let version = take(1)?.first, skip(15) else {
      return nil
    }
    var counts: [Int] = []
    for _ in 0..<6 {
      // The file is limited to some kilobytes.
      guard let count = integer(4), (0...65_536).contains(count) else { return nil }
      counts.append(Int(count))
    }
    // isutcnt, isstdcnt, leapcnt, timecnt, typecnt, charcnt; a leap second has a time and four bytes.
    var header = Header(version: version)
    (header.changes, header.types, header.leapSeconds) = (counts[3], counts[4], counts[2])
    header.rest = counts[5] + counts[2] * 8 + counts[1] + counts[0]
    return header
  }

  /// The text between two line feeds at the end.
  mutating func footer() -> String? {
    guard take(1)?.first == 0x0a, let end = rest.firstIndex(of: 0x0a) else { return nil }
    return String(validating: rest[..<end], as: UTF8.self)
  }
}
