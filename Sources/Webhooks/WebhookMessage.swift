internal import JSONFormat
internal import ReachabilityModel
internal import TextSyntax

/// One message to a receiver: a CloudEvent 1.0 in structured mode, because in binary mode the attributes would be header
/// fields, which the signature does not cover.
struct WebhookMessage: Sendable, Equatable {
  /// The media type of a CloudEvent in JSON (CloudEvents JSON Event Format 1.0 §3).
  static let contentType = "application/cloudevents+json; charset=utf-8"

  /// The id, the same in every attempt, so that a receiver recognizes a repetition.
  let id: String
  /// The number of the event; nil for a test.
  let sequence: UInt64?
  let body: String

  /// An event; `source` is the attribute `source`.
  init(_ event: WebhookEvent, epoch: String, source: String) {
    id = event.id ?? "\(epoch)-\(event.sequence)"
    sequence = event.sequence
    body = Self.body(
      id, source, type: event.type, subject: event.subject, event.time, sequence: event.sequence, data: event.data)
  }

  init(_ gap: WebhookGap, epoch: String, source: String) {
    id = "\(epoch)-\(gap.last)-gap"
    sequence = gap.last
    let data = JSON.members([
      "reason": .string(gap.reason.rawValue), "after": .string(gap.after), "last": .string("\(epoch)-\(gap.last)"),
      "count": gap.count.map { .integer(Int64($0)) } ?? .null,
    ])
    body = Self.body(
      id, source, type: "gap", subject: "machine", gap.time, sequence: gap.last, data: data.bytes)
  }

  init(test id: String, at time: Timestamp, source: String) {
    self.id = id
    sequence = nil
    let data = JSON.members(["message": "A test of this webhook; nothing has happened."])
    body = Self.body(id, source, type: "test", subject: "machine", time, sequence: nil, data: data.bytes)
  }

  private static func body(
    _ id: String, _ source: String, type: String, subject: String, _ time: Timestamp, sequence: UInt64?, data: [UInt8]
  ) -> String {
    var members: [JSON.Member] = [
      .init(name: "specversion", value: "1.0"), .init(name: "id", value: .string(id)),
      .init(name: "source", value: .string(source)), .init(name: "type", value: .string("reachd.\(type)")),
      .init(name: "subject", value: .string(subject)), .init(name: "time", value: .string("\(time)")),
    ]
    if let sequence { members.append(.init(name: "sequence", value: .string(padded(sequence)))) }
    members.append(.init(name: "datacontenttype", value: "application/json"))
    // The data is already encoded.
    var bytes = JSON.object(members).bytes
    bytes.removeLast()
    bytes += ",\"data\":".utf8
    bytes += data
    bytes.append(UInt8(ascii: "}"))
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The decimal digits of the longest number.
  private static let sequenceDigits = String(UInt64.max).utf8.count

  /// A number in order of characters (CloudEvents extension `sequence`), without `sequencetype`, which has only 32 bits.
  private static func padded(_ sequence: UInt64) -> String {
    let digits = String(sequence)
    return String(repeating: "0", count: sequenceDigits - digits.utf8.count) + digits
  }

  /// The attribute `source` of this machine, `urn:reachd:<machine>` (RFC 8141).
  static func source(machine: String) -> String {
    let name = PercentEncoding.encoded(machine) {
      PercentEncoding.isUnreserved($0) && $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "~")
    }
    return "urn:reachd:\(name.isEmpty ? "localhost" : name)"
  }
}
