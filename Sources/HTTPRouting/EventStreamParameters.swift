internal import TextSyntax

package enum EventStreamParameters {
  /// The maximum number of names that a stream selects by one parameter.
  private static let selectionLimit = 64
  /// Event types that `types` does not filter, because they are about the stream.
  private static let unfilteredTypes: Set<Substring> = ["snapshot", "gap", "bye"]

  /// Returns the mask of the event types in `types`; nil without the parameter.
  ///
  /// - Parameters:
  ///   - request: the request.
  ///   - known: the types that can be selected, with their masks.
  ///   - always: a type that is sent whatever is selected.
  /// - Returns: the mask.
  /// - Throws: the problem of an unknown type.
  package static func kinds(
    _ request: RoutedRequest, among known: [(name: String, mask: UInt64)], always: Substring? = nil
  ) throws(Problem) -> UInt64? {
    guard let types = request.query["types"] else { return nil }
    var mask: UInt64 = 0
    for type in ListParameter.words(types) where !unfilteredTypes.contains(type) && type != always {
      guard let kind = known.first(where: { $0.name == type }) else {
        let names = known.map(\.name)
        let suggestion = EditDistance.suggestion(for: String(type), among: names).map { " (\($0))" } ?? ""
        throw Problem(
          .badRequest,
          "unknown event type \(String(type.prefix(80)).debugDescription)\(suggestion); "
            + "expected one of \(names.joined(separator: ", "))")
      }
      mask |= kind.mask
    }
    return mask
  }

  /// Returns the names that the query has in a parameter; nil without it.
  package static func names(
    _ parameter: String, _ request: RoutedRequest, isValid: (String) -> Bool = { _ in true }
  ) throws(Problem) -> Set<String>? {
    let names = Set(request.request.query.filter { $0.name == parameter }.map(\.value))
    guard !names.isEmpty else { return nil }
    if let wrong = names.first(where: { !isValid($0) }) { throw Problem(invalidID: wrong, of: parameter) }
    guard names.count <= selectionLimit else {
      throw Problem(
        .badRequest,
        "a stream selects at most \(selectionLimit) \(parameter)s, got \(names.count); omit \(parameter) to receive all events"
      )
    }
    return names
  }
}
