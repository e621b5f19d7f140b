import TestSupport

/// A `status`, `path` or `interface` event, with what tests look at.
struct News: CustomStringConvertible {
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
struct FollowedStatus {
  /// The document without `flags`, which `path` events do not tell.
  private(set) var document: JSONValue
  /// The flags, as long as they are known.
  private(set) var flags: JSONValue?
  private(set) var number: Int

  /// Begins with a `snapshot` event.
  init(_ snapshot: StreamEvent) throws(TestError) {
    guard snapshot.name == "snapshot", let number = snapshot.number, snapshot.data["id"]?.text == snapshot.id else {
      throw TestError("no snapshot: \(snapshot)")
    }
    document = snapshot.data.setting("flags", nil)
    flags = snapshot.data["flags"]
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
    case "status": try takeStatus(event)
    case "path": try takePath(event)
    case "interface": try takeInterface(event)
    default: throw TestError("an unknown event: \(event)")
    }
    document = document.setting("id", .string(id))
  }

  private mutating func takeStatus(_ event: StreamEvent) throws(TestError) {
    guard let status = event.data["status"], let from = event.data["from"], let to = event.data["to"],
      from != to, from["status"] == document["status"], from["connectionType"] == document["connectionType"],
      to["status"] == status["status"], to["connectionType"] == status["connectionType"],
      status["since"] == event.data["time"], status["id"]?.text == event.id
    else { throw TestError("a status event that does not fit to \(document): \(event)") }
    flags = status["flags"]
    document = status.setting("flags", nil).setting("interfaces", document["interfaces"])
  }

  private mutating func takePath(_ event: StreamEvent) throws(TestError) {
    guard let from = event.data["from"], let to = event.data["to"], from != to,
      from["ipv4"] == document["ipv4"], from["ipv6"] == document["ipv6"]
    else { throw TestError("a path event that does not fit to \(document): \(event)") }
    flags = nil
    document = document.setting("ipv4", to["ipv4"]).setting("ipv6", to["ipv6"])
    document = document.setting("reason", document["isReachable"] == true ? .null : Self.reason(to))
  }

  /// The reason of the family that came furthest, IPv4's on a tie.
  private static func reason(_ families: JSONValue) -> JSONValue? {
    func rank(_ family: JSONValue?) -> Int {
      switch family?["reason"] {
      case "noRoute": 1
      case "connectionRequired": 3
      default: 2
      }
    }
    let isIPv6 = rank(families["ipv6"]) > rank(families["ipv4"])
    return families[isIPv6 ? "ipv6" : "ipv4"]?["reason"]
  }

  private mutating func takeInterface(_ event: StreamEvent) throws(TestError) {
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
    status.setting("flags", nil) == document && (flags == nil || flags == status["flags"])
  }
}
