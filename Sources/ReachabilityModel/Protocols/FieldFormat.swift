/// The format of a value in a configuration file.
package struct FieldFormat<Value>: Sendable {
  /// What is expected, for error messages.
  package let expectation: String
  /// Parses a text; nil if it is invalid.
  package let parse: @Sendable (String) -> Value?

  package init(_ expectation: String, _ parse: @escaping @Sendable (String) -> Value?) {
    self.expectation = expectation
    self.parse = parse
  }
}

extension FieldFormat<String> {
  package static var text: Self { Self("a text") { $0 } }
  package static var hostName: Self {
    Self("a host's name, such as db.internal") { (try? ReachabilityTarget(host: $0)) == nil ? nil : $0 }
  }
  /// An absolute path, which does not depend on the working directory.
  package static var absolutePath: Self {
    Self("an absolute path, such as /etc/ssl/own.pem") { $0.hasPrefix("/") ? $0 : nil }
  }
}

extension FieldFormat<Bool> {
  package static var boolean: Self { Self("true or false") { ["true": true, "false": false][$0] } }
}

extension FieldFormat<Double> {
  /// A fraction between 0 and 1.
  package static var fraction: Self {
    Self("a number from 0 to 1") { text in Double(text).flatMap { (0...1).contains($0) ? $0 : nil } }
  }
}

extension FieldFormat<Int> {
  /// An integer within bounds.
  package static func integer(_ range: ClosedRange<Int>) -> Self {
    Self("an integer from \(range.lowerBound) to \(range.upperBound)") { text in
      Int(text).flatMap { range.contains($0) ? $0 : nil }
    }
  }
}

extension FieldFormat<Duration> {
  package static var duration: Self { Self("a duration such as 500ms or 30s") { DurationFormat.parse($0) } }

  /// A duration within bounds.
  package static func duration(_ range: ClosedRange<Duration>, example: String = "500ms") -> Self {
    let bounds = "\(DurationFormat.shortest(range.lowerBound)) to \(DurationFormat.shortest(range.upperBound))"
    return Self("a duration from \(bounds), such as \(example)") { text in
      DurationFormat.parse(text).flatMap { range.contains($0) ? $0 : nil }
    }
  }
}

extension FieldFormat where Value: RawRepresentable<String> & CaseIterable & Sendable {
  /// A case of an enumeration by its name.
  package static var choice: Self {
    Self("one of \(Value.allCases.map(\.rawValue).joined(separator: ", "))") { Value(rawValue: $0) }
  }
}
