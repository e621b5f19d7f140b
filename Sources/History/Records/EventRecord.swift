/// One event as it is stored: what is needed to replay it, its transition for the history, and the states to restore.
public struct EventRecord: Sendable, Equatable {
  /// The number within the epoch.
  public var sequence: UInt64
  /// When it happened, in microseconds since 1970.
  public var time: Int64
  /// When it happened, in microseconds of CLOCK_BOOTTIME.
  public var uptime: Int64
  /// The kind of the entry in the event log.
  public var kind: UInt8
  /// `machine`, `interface:eth0`, `target:db`.
  public var subject: String
  /// The frame for event streams.
  public var body: [UInt8]
  /// The transition for the history; nil for an event that it does not contain.
  public var transition: TransitionRecord?
  /// The subject's state to restore after a restart; nil to keep the stored one.
  public var state: [UInt8]?
  /// The change of the registered target's row; nil for other subjects.
  public var target: StoredTargetChange?

  /// Makes a record from its parts.
  public init(
    sequence: UInt64, time: Int64, uptime: Int64, kind: UInt8, subject: String, body: [UInt8],
    transition: TransitionRecord? = nil, state: [UInt8]? = nil, target: StoredTargetChange? = nil
  ) {
    self.sequence = sequence
    self.time = time
    self.uptime = uptime
    self.kind = kind
    self.subject = subject
    self.body = body
    self.transition = transition
    self.state = state
    self.target = target
  }

  /// The bytes that it counts for while it waits.
  var cost: Int { body.count + (state?.count ?? 0) + Limits.recordOverhead }
}

/// A registered target as it is stored.
public struct TargetRecord: Sendable, Equatable {
  /// The identifier.
  public var id: String
  /// The definition as JSON.
  public var definition: String
  /// `configuration` or `runtime`.
  public var origin: String
  /// The revision of the definition.
  public var revision: UInt64
  /// The status and the counters to restore.
  public var state: [UInt8]
  /// The id of the token whose quota has it; nil for none.
  public var token: String?

  /// Makes a record from its parts.
  public init(
    id: String, definition: String, origin: String, revision: UInt64, state: [UInt8], token: String? = nil
  ) {
    self.id = id
    self.definition = definition
    self.origin = origin
    self.revision = revision
    self.state = state
    self.token = token
  }
}

/// A change of a registered target's row, in the transaction of its event.
public enum StoredTargetChange: Sendable, Equatable {
  /// The target is registered, or its definition has changed.
  case put(TargetRecord)
  /// Its state has changed.
  case state([UInt8])
  /// The target was removed.
  case remove
}

extension StoredTargetChange {
  /// The change that has the effect of this one and a later one.
  func followed(by later: StoredTargetChange?) -> StoredTargetChange {
    guard let later else { return self }
    guard case .put(var target) = self, case .state(let state) = later else { return later }
    target.state = state
    return .put(target)
  }
}

/// The name of a subject of the history.
public enum HistorySubject {
  /// This machine.
  public static let machine = "machine"
  /// This service.
  public static let service = "service"
  /// An interface.
  public static func interface(_ name: String) -> String { "interface:\(name)" }
  /// A registered target.
  public static func target(_ id: String) -> String { "target:\(id)" }

  /// A gate.
  public static func gate(_ id: String) -> String { "gate:\(id)" }

  /// The identifier in the name of a gate; nil for other subjects.
  public static func gateID(in name: String) -> String? { rest(of: name, after: gate("")) }

  /// The identifier in the name of a registered target; nil for other subjects.
  public static func targetID(in name: String) -> String? { rest(of: name, after: target("")) }

  /// The name of an interface in the name of its subject; nil for other subjects.
  public static func interfaceName(in name: String) -> String? { rest(of: name, after: interface("")) }

  private static func rest(of name: String, after prefix: String) -> String? {
    name.hasPrefix(prefix) ? String(name.dropFirst(prefix.count)) : nil
  }
}
