import TestSupport

/// A `status`, `path` or `interface` event, with what tests look at.
struct StateEvent: CustomStringConvertible {
  let event: StreamEvent

  var name: String { event.name }
  /// The list of causes.
  var causes: [String] { event.data["cause"]?.texts ?? [] }
  /// The interface of an `interface` event.
  var interface: JSONValue? { event.data["interface"] }
  /// The flags after a `status` event.
  var flags: [String] { event.data["status"]?["flags"]?.texts ?? [] }

  /// The event in one line: its name, what the machine is now where it says so, and both families.
  ///
  /// `status reachable ethernetOrWiFi | reachable c0 ethernet via 10.9.0.1 from 10.9.0.2 | notReachable noRoute`.
  var line: String {
    switch name {
    case "status":
      let status = event.data["status"] ?? .null
      let words = [status["status"], status["connectionType"], status["reason"]].compactMap { $0?.text }
      return "status \(words.joined(separator: " ")) | \(Self.families(status))"
    case "path": return "path | \(Self.families(event.data["to"] ?? .null))"
    default: return "\(name) \(event.data["interface"]?["name"]?.text ?? "")"
    }
  }

  var description: String { line + " because " + causes.joined(separator: ",") }

  /// The two family objects of a document in one line.
  static func families(_ document: JSONValue) -> String {
    [document["ipv4"], document["ipv6"]].map { family($0 ?? .null) }.joined(separator: " | ")
  }

  private static func family(_ family: JSONValue) -> String {
    var words = ["status", "reason", "interface", "interfaceType"].compactMap { family[$0]?.text }
    if let gateway = family["gateway"]?.text { words += ["via", gateway] }
    if let source = family["source"]?.text { words += ["from", source] }
    return words.joined(separator: " ")
  }
}

/// The `/status` document as a client knows it that has nothing but a snapshot and the events after it.
struct StatusReplica {
  /// The document as the events tell it.
  private(set) var document: JSONValue
  private(set) var number: Int

  /// Begins with a `snapshot` event.
  init(_ snapshot: StreamEvent) throws(TestError) {
    guard snapshot.name == "snapshot", let number = snapshot.number, snapshot.data["id"]?.text == snapshot.id else {
      throw TestError("no snapshot: \(snapshot)")
    }
    document = snapshot.data
    self.number = number
  }

  /// Takes in the next event.
  ///
  /// - Throws: a `TestError` when its number is not the next one, or when it does not fit to what was known.
  mutating func take(_ event: StreamEvent) throws(TestError) {
    guard let id = event.id, event.number == number + 1, event.data["id"]?.text == id,
      event.data["type"]?.text == event.name, event.data["time"]?.text != nil
    else { throw TestError("\(number) is followed by \(event)") }
    number += 1
    switch event.name {
    case "status": try applyStatus(event)
    case "path": try applyPath(event)
    case "interface": try applyInterface(event)
    default: throw TestError("an unknown event: \(event)")
    }
    document = document.setting("id", .string(id))
  }

  private mutating func applyStatus(_ event: StreamEvent) throws(TestError) {
    guard let status = event.data["status"], let from = event.data["from"], let to = event.data["to"],
      from != to, from["status"] == document["status"], from["connectionType"] == document["connectionType"],
      to["status"] == status["status"], to["connectionType"] == status["connectionType"],
      status["since"] == event.data["time"], status["id"]?.text == event.id
    else { throw TestError("a status event that does not fit to \(document): \(event)") }
    document = status.setting("interfaces", document["interfaces"])
  }

  private mutating func applyPath(_ event: StreamEvent) throws(TestError) {
    guard let from = event.data["from"], let to = event.data["to"], let status = event.data["status"], from != to,
      from["ipv4"] == document["ipv4"], from["ipv6"] == document["ipv6"], to["ipv4"] == status["ipv4"],
      to["ipv6"] == status["ipv6"], status["status"] == document["status"], status["since"] == document["since"]
    else { throw TestError("a path event that does not fit to \(document): \(event)") }
    document = status.setting("interfaces", document["interfaces"])
  }

  private mutating func applyInterface(_ event: StreamEvent) throws(TestError) {
    guard let interface = event.data["interface"], let index = interface["index"]?.integer,
      let old = document["interfaces"]?.elements
    else { throw TestError("an interface event without interface: \(event)") }
    var interfaces = old.filter { $0["index"]?.integer != index }
    if event.data["removed"] == true {
      guard interfaces.count < old.count else { throw TestError("what went was not there: \(event)") }
    } else {
      interfaces.append(interface.setting("mtu", nil).setting("lower", nil))
      interfaces.sort { ($0["index"]?.integer ?? 0) < ($1["index"]?.integer ?? 0) }
    }
    document = document.setting("interfaces", .array(interfaces))
  }

  /// Whether `status`, which `GET /status` answered, is what is known.
  func agrees(with status: JSONValue) -> Bool {
    status == document
  }
}
