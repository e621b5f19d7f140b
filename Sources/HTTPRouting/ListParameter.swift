internal import ReachabilityModel

extension RoutedRequest {
  /// Returns the value of a parameter that has one of a few values; nil without it.
  package func value<Value: RawRepresentable & CaseIterable>(
    _ name: String, of type: Value.Type = Value.self
  ) throws(Problem) -> Value? where Value.RawValue == String {
    guard let text = query[name] else { return nil }
    return try Self.value(text[...], name)
  }

  /// Returns the values of a parameter that is a list of a few values; nil without it.
  package func values<Value: RawRepresentable & CaseIterable & Hashable>(
    _ name: String, of type: Value.Type = Value.self
  ) throws(Problem) -> Set<Value>? where Value.RawValue == String {
    guard let text = query[name] else { return nil }
    var values: Set<Value> = []
    for word in ListParameter.words(text) { values.insert(try Self.value(word, name)) }
    return values
  }

  private static func value<Value: RawRepresentable & CaseIterable>(
    _ text: Substring, _ name: String
  ) throws(Problem) -> Value where Value.RawValue == String {
    if let value = Value(rawValue: String(text)) { return value }
    let known = Value.allCases.map(\.rawValue).joined(separator: ", ")
    throw Problem(
      .badRequest, "unknown \(name) \(String(text.prefix(80)).debugDescription); expected one of \(known)")
  }
}

/// The parameter `limit` of a list.
package enum ListLimit {
  package static func parse(_ text: String?, _ standard: Int, _ maximum: Int) throws(Problem) -> Int {
    guard let text else { return standard }
    guard text.isDecimal, let limit = Int(text), (1...maximum).contains(limit)
    else {
      throw Problem(
        .badRequest, "limit must be an integer between 1 and \(maximum), got \(text.prefix(80).debugDescription)")
    }
    return limit
  }
}

/// A parameter whose value is a list with commas.
///
/// A list is a set: a repetition selects nothing else, and costs no further work.
package enum ListParameter {
  /// Returns the words of a list without repetitions, in order; an empty word is a word.
  package static func words(_ text: String) -> [Substring] {
    var seen: Set<Substring> = []
    return text.split(separator: ",", omittingEmptySubsequences: false).filter { seen.insert($0).inserted }
  }
}
