/// The interfaces as two clients know them that have nothing but a snapshot and the events after it: one keys by name, the
/// other by index.
public struct InterfaceReplicas: Sendable {
  /// Indexes by name.
  public private(set) var byName: [String: Int] = [:]
  /// Names by index.
  public private(set) var byIndex: [Int: String] = [:]
  /// What does not fit to earlier events.
  public private(set) var problems: [String] = []
  /// The `interface` events since the beginning, one word each: `-d0>d1` is a removal with a new name, `+d1` is none.
  public private(set) var steps: [String] = []

  /// Begins with the interfaces of a `snapshot` event or of `/status`.
  public init(_ document: JSONValue) {
    for interface in document["interfaces"]?.elements ?? [] {
      guard let name = interface["name"]?.text, let index = interface["index"]?.integer else { continue }
      byName[name] = index
      byIndex[index] = name
    }
  }

  /// Applies an event; events of other types change nothing.
  public mutating func take(_ event: StreamEvent) {
    guard event.name == "interface", let name = event.data["interface"]?["name"]?.text,
      let index = event.data["interface"]?["index"]?.integer
    else { return }
    guard event.data["removed"] == true else {
      steps.append("+\(name)")
      byName[name] = index
      byIndex[index] = name
      return
    }
    steps.append("-\(name)" + (event.data["renamedTo"]?.text.map { ">\($0)" } ?? ""))
    if byName.removeValue(forKey: name) != index { problems.append("no \(name) with the index \(index): \(event)") }
    if byIndex.removeValue(forKey: index) != name { problems.append("no \(index) with the name \(name): \(event)") }
  }

  /// Whether both clients know exactly the interfaces of a document.
  public func agree(with document: JSONValue) -> Bool {
    let present = InterfaceReplicas(document)
    return problems.isEmpty && byName == present.byName && byIndex == present.byIndex
  }
}
