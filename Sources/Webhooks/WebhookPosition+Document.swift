internal import Database
internal import JSONFormat
internal import ReachabilityModel

extension WebhookPosition {
  /// Reads the columns after the id.
  init(_ row: borrowing DatabaseRow) {
    self.init(epoch: row.text(1) ?? "", settled: row.bits(2))
    failures = Int(Self.count(row.integer(3)))
    notBefore = row.optionalInteger(4).map { Timestamp(microseconds: $0) }
    // A text that cannot be read leads to no pause and no gap, not to a webhook that never sends.
    guard let details = try? JSON.parse(Array((row.text(5) ?? "").utf8)) else { return }
    read(details: details)
  }

  /// The position as a JSON document, which other processes can read.
  public var document: [UInt8] {
    JSON.members([
      "epoch": .string(epoch), "settled": .string("\(settled)"), "failures": .integer(Int64(failures)),
      "notBefore": notBefore.map { .integer($0.microseconds) } ?? .null,
      "rejections": .integer(Int64(rejections)), "pause": .text(pause?.rawValue), "gap": gap?.document ?? .null,
    ]).bytes
  }

  /// Reads ``document``; nil for other bytes.
  public init?(document bytes: [UInt8]) {
    guard let document = try? JSON.parse(bytes), let epoch = document["epoch"]?.string,
      let settled = document["settled"]?.string.flatMap({ UInt64($0) })
    else { return nil }
    self.init(epoch: epoch, settled: settled)
    if case .integer(let number) = document["failures"] { failures = Int(Self.count(number)) }
    if case .integer(let time) = document["notBefore"] { notBefore = Timestamp(microseconds: time) }
    read(details: document)
  }

  private mutating func read(details: JSON) {
    if case .integer(let number) = details["rejections"] { rejections = Int(Self.count(number)) }
    pause = details["pause"]?.string.flatMap(WebhookPause.init)
    gap = details["gap"].flatMap(WebhookGap.init)
  }

  /// A stored count, to which more can be added.
  static func count(_ stored: Int64) -> Int64 { min(max(0, stored), Limits.storedCount) }

  /// The column `state`: what has no column of its own.
  var details: String {
    let document = JSON.members([
      "rejections": .integer(Int64(rejections)), "pause": .text(pause?.rawValue), "gap": gap?.document ?? .null,
    ])
    return String(decoding: document.bytes, as: UTF8.self)
  }
}

extension WebhookGap {
  init?(_ document: JSON) {
    guard let reason = document["reason"]?.string.flatMap(Reason.init), let after = document["after"]?.string,
      let last = document["last"]?.string.flatMap({ UInt64($0) }), case .integer(let time) = document["time"]
    else { return nil }
    var number: Int?
    if case .integer(let count) = document["count"] { number = Int(WebhookPosition.count(count)) }
    self.init(reason: reason, after: after, last: last, count: number, time: Timestamp(microseconds: time))
  }

  var document: JSON {
    .members([
      "reason": .string(reason.rawValue), "after": .string(after), "last": .string("\(last)"),
      "count": count.map { .integer(Int64($0)) } ?? .null, "time": .integer(time.microseconds),
    ])
  }
}
