internal import HTTPRouting
internal import JSONFormat
internal import ReachabilityFleet
internal import StatusAPI

/// Reads and writes the two members that a fleet target has besides those of a node's target: `place` and `quorum`.
enum FleetTargetDecoder {
  static let countLimit = 10_000

  static func encode(_ placement: FleetPlacement) -> JSON {
    guard !placement.select.isEmpty || placement.count != nil else { return "all" }
    var members: [JSON.Member] = [.init("select", texts: placement.select)]
    if let count = placement.count { members.append(.init("count", count: count)) }
    if placement.spreadsZones { members.append(.init("spread", text: "zone")) }
    return .object(members)
  }

  /// Reads `place`: `"all"`, or an object with `select`, `count` and `spread`.
  static func placement(_ json: JSON?, at pointer: String) throws(TargetDecoder.InvalidFields) -> FleetPlacement {
    guard let json, json != "all" else { return FleetPlacement() }
    guard let members = json.members else {
      throw invalid(pointer, "expected \"all\" or an object with select, count and spread")
    }
    var placement = FleetPlacement()
    for member in members {
      switch member.name {
      case "select":
        guard let labels = json.texts("select") else {
          throw invalid(pointer + "/select", "expected an object of strings")
        }
        placement.select = labels
      case "count":
        guard let count = json.count("count"), (1...countLimit).contains(count) else {
          throw invalid(pointer + "/count", "expected an integer from 1 to \(countLimit)")
        }
        placement.count = count
      case "spread":
        guard member.value == "zone" else { throw invalid(pointer + "/spread", "expected \"zone\"") }
        placement.spreadsZones = true
      default:
        throw invalid(
          pointer + FieldError.pointerSegment(member.name), "unknown field; expected one of select, count, spread")
      }
    }
    return placement
  }

  static func encode(_ quorum: FleetQuorumRule) -> JSON {
    .object([
      .init("down", encode(quorum.down)), .init("minimum", encode(quorum.minimum)), .init("zones", count: quorum.zones),
    ])
  }

  private static func encode(_ threshold: FleetQuorumRule.Threshold?) -> JSON {
    switch threshold {
    case nil: .null
    case .count(let count): .integer(Int64(count))
    case .percent(let percent): .string("\(percent)%")
    }
  }

  /// Reads `quorum`: an object with `down`, `minimum` and `zones`.
  static func quorum(_ json: JSON?, at pointer: String) throws(TargetDecoder.InvalidFields) -> FleetQuorumRule {
    guard let json else { return FleetQuorumRule() }
    guard let members = json.members else {
      throw invalid(pointer, "expected an object with down, minimum and zones")
    }
    var quorum = FleetQuorumRule()
    for member in members {
      switch member.name {
      case "down": quorum.down = try threshold(member.value, at: pointer + "/down")
      case "minimum": quorum.minimum = try threshold(member.value, at: pointer + "/minimum")
      case "zones":
        guard let zones = json.count("zones"), (1...countLimit).contains(zones) else {
          throw invalid(pointer + "/zones", "expected an integer from 1 to \(countLimit)")
        }
        quorum.zones = zones
      default:
        throw invalid(
          pointer + FieldError.pointerSegment(member.name), "unknown field; expected one of down, minimum, zones")
      }
    }
    return quorum
  }

  private static func threshold(
    _ json: JSON, at pointer: String
  ) throws(TargetDecoder.InvalidFields) -> FleetQuorumRule.Threshold? {
    switch json {
    case .null: return nil
    case .integer(let number) where (1...Int64(countLimit)).contains(number): return .count(Int(number))
    case .string(let text) where text.hasSuffix("%"):
      if let percent = Int(text.dropLast()), (1...100).contains(percent), text.first != "+" {
        return .percent(percent)
      }
    default: break
    }
    throw invalid(pointer, "expected a number of agents or a share such as \"50%\"")
  }

  static func invalid(_ pointer: String, _ detail: String) -> TargetDecoder.InvalidFields {
    TargetDecoder.InvalidFields(errors: [FieldError(pointer: pointer, detail: detail)])
  }
}
