internal import JSONFormat
internal import NetworkReachability
public import ReachabilityFleet

/// The JSON of the requests of agents and of the answers of replicas (docs/reference/fleet-messages.md).
public enum GatewayWire {
  /// The version of the requests; a replica rejects others.
  static let version: Int64 = 1
  /// The longest epoch, reason and version of a program, in bytes.
  private static let textBytes = 64

  // MARK: - Requests

  /// Encodes a request.
  public static func encode(_ request: GatewayRequest) -> [UInt8] {
    let members: [JSON.Member] =
      switch request {
      case .publish(let message): [.init("request", text: "publish"), .init("message", FleetWire.encode(message))]
      case .last: [.init("request", text: "last")]
      case .confirm(let roster): [.init("request", text: "confirm"), .init("roster", .text(roster))]
      case .roster(let after): [.init("request", text: "roster"), .init("after", .text(after))]
      case .missing(let ids): [.init("request", text: "missing"), .init("targets", .list(ids))]
      case .hello(let hello):
        [
          .init("request", text: "hello"), .init("instance", .integer(Int64(bitPattern: hello.instance))),
          .init("known", number: hello.known), .init("restates", .bool(hello.restates)),
          .init("hello", FleetWire.encode(hello.attributes)),
        ]
      case .bye(let instance):
        [.init("request", text: "bye"), .init("instance", .integer(Int64(bitPattern: instance)))]
      }
    return JSON.object([.init("v", .integer(version))] + members).bytes
  }

  /// Decodes a request of an agent, whose id the engine has verified.
  ///
  /// - Throws: why it is never accepted.
  static func request(_ payload: [UInt8], of agent: String) throws(GatewayRejection) -> GatewayRequest {
    guard let json = try? JSON.parse(payload) else { throw GatewayRejection("the request is no JSON") }
    guard json.int("v") == version else { throw GatewayRejection("the version of the request is not \(version)") }
    guard let name = json.text("request") else { throw GatewayRejection("the request has no name") }
    guard let request = request(name, json) else { throw GatewayRejection("the request \(name.prefix(16)) is invalid") }
    if case .publish(let message) = request {
      guard message.agent == agent else { throw GatewayRejection("the message is of another agent") }
      try check(message)
    }
    if case .hello(let hello) = request { try check(hello.attributes) }
    return request
  }

  private static func request(_ name: String, _ json: JSON) -> GatewayRequest? {
    switch name {
    case "publish": json["message"].flatMap(FleetWire.agentMessage).map(GatewayRequest.publish)
    case "last": .last
    case "confirm": .confirm(roster: json.text("roster"))
    case "roster": .roster(after: json.text("after"))
    case "missing":
      json.list("targets", \.string).flatMap { ids in
        ids.count <= GatewayLimits.missingTargets && ids.allSatisfy(TargetSpec.isID) ? .missing(ids) : nil
      }
    case "hello": hello(json).map(GatewayRequest.hello)
    case "bye": json.int("instance").map { .bye(instance: UInt64(bitPattern: $0)) }
    default: nil
    }
  }

  private static func hello(_ json: JSON) -> GatewayHello? {
    guard let instance = json.int("instance"), instance != 0, let known = json.number("known"),
      let attributes = json["hello"].flatMap(FleetWire.hello)
    else { return nil }
    return GatewayHello(
      instance: UInt64(bitPattern: instance), known: known, restates: json.flag("restates"), attributes: attributes)
  }

  /// What the message alone shows; order, epoch and chain are decided by the condition of its publication.
  private static func check(_ message: AgentMessage) throws(GatewayRejection) {
    guard isText(message.epoch), !message.epoch.isEmpty else { throw GatewayRejection("the epoch is invalid") }
    guard message.after <= FleetLimits.latestSequence else { throw GatewayRejection("after is too large") }
    switch message.content {
    case .changes(let batch):
      var last = batch.from - 1
      for change in batch.changes {
        guard change.number > last, change.number <= batch.to else {
          throw GatewayRejection("the numbers of the changes are not in their order")
        }
        last = change.number
      }
    case .base(let part):
      guard part.of <= FleetLimits.baseParts else { throw GatewayRejection("the base has too many parts") }
    }
  }

  private static func check(_ hello: NodeHello) throws(GatewayRejection) {
    let labels = hello.labels
    guard labels.count <= 16, labels.allSatisfy({ TargetSpec.isID($0.key) && isLabelValue($0.value) }) else {
      throw GatewayRejection("the labels are invalid")
    }
    guard isText(hello.version) else { throw GatewayRejection("the version of the program is invalid") }
    guard let address = hello.address else { return }
    guard let target = try? CheckTarget(address), [.tcp, .icmp].contains(target.scheme) else {
      throw GatewayRejection("the address is invalid")
    }
  }

  /// As the value of a target's label.
  private static func isLabelValue(_ text: String) -> Bool {
    text.utf8.count <= 63 && text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f }
  }

  private static func isText(_ text: String) -> Bool {
    text.utf8.count <= textBytes && text.utf8.allSatisfy { (0x20..<0x7f).contains($0) }
  }
}

/// Why a replica never accepts a request.
struct GatewayRejection: Error, Hashable {
  var reason: String
  init(_ reason: String) { self.reason = reason }
}
