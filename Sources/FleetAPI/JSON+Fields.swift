internal import JSONFormat

/// Members of a message as the types that they have; nil for another type.
extension JSON {
  func text(_ name: String) -> String? { self[name]?.string }

  func number(_ name: String) -> UInt64? { int(name).flatMap { UInt64(exactly: $0) } }

  func int(_ name: String) -> Int64? {
    guard case .integer(let number) = self[name] else { return nil }
    return number
  }

  func count(_ name: String) -> Int? { int(name).flatMap { Int(exactly: $0) } }

  /// A Boolean; false when it is missing.
  func flag(_ name: String) -> Bool { self[name] == .bool(true) }

  /// An object of strings; empty when it is missing, nil for another type.
  func texts(_ name: String) -> [String: String]? {
    guard let value = self[name] else { return [:] }
    guard let members = value.members else { return nil }
    var texts: [String: String] = [:]
    for member in members {
      guard let text = member.value.string else { return nil }
      texts[member.name] = text
    }
    return texts
  }

  /// An array whose elements are all understood; nil for another type.
  func list<Element>(_ name: String, _ element: (JSON) -> Element?) -> [Element]? {
    guard let values = self[name]?.elements else { return nil }
    var found: [Element] = []
    found.reserveCapacity(values.count)
    for value in values {
      guard let element = element(value) else { return nil }
      found.append(element)
    }
    return found
  }
}

extension JSON.Member {
  init(_ name: String, _ value: JSON) { self.init(name: name, value: value) }

  init(_ name: String, number: UInt64) { self.init(name, .integer(Int64(clamping: number))) }

  init(_ name: String, count: Int) { self.init(name, .integer(Int64(count))) }

  init(_ name: String, text: String) { self.init(name, .string(text)) }

  init(_ name: String, texts: [String: String]) {
    self.init(
      name, .object(texts.sorted { $0.key < $1.key }.map { JSON.Member($0.key, text: $0.value) }))
  }
}
