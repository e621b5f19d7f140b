/// An array that is encoded while elements are added: columns of many thousand elements need no tree.
public struct JSONArrayEncoder: Sendable {
  private var encoded: [UInt8] = [UInt8(ascii: "[")]

  /// An empty array.
  public init() {}

  /// The array in the encoding of ``JSON/bytes``.
  public var bytes: [UInt8] { encoded + [UInt8(ascii: "]")] }

  /// Adds a number, or null.
  public mutating func append(_ value: Int64?) {
    separate()
    guard let value else { return encoded.append(contentsOf: "null".utf8) }
    // Not by String: columns have many thousand numbers.
    if value < 0 { encoded.append(UInt8(ascii: "-")) }
    let start = encoded.count
    var rest = value.magnitude
    repeat {
      encoded.append(UInt8(ascii: "0") + UInt8(rest % 10))
      rest /= 10
    } while rest > 0
    encoded[start...].reverse()
  }

  /// Adds a string.
  public mutating func append(_ text: String) {
    separate()
    JSON.write(text, to: &encoded)
  }

  private mutating func separate() {
    if encoded.count > 1 { encoded.append(UInt8(ascii: ",")) }
  }
}

extension JSON {
  /// Returns the encoding of an object with members that are encoded already.
  public static func object(encoded members: [(name: String, value: [UInt8])]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(members.reduce(2) { $0 + $1.name.utf8.count + $1.value.count + 4 })
    write(members, between: ("{", "}"), to: &bytes) { member, bytes in
      write(member.name, to: &bytes)
      bytes.append(UInt8(ascii: ":"))
      bytes += member.value
    }
    return bytes
  }
}
