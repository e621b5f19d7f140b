/// A subject for a reply that was checked: no process of the fleet publishes on any other subject that a client has chosen.
///
/// The engine's permissions say where a client publishes, not which reply subject its requests name (ADR 60).
public struct FleetReplySubject: Hashable, Sendable, CustomStringConvertible {
  /// The subject as text.
  public let description: String

  /// The bytes of a subject.
  private static let length = 128
  /// The tokens after the prefix.
  private static let tokens = 1...2
  /// The first token of the subjects for answers of agents; each ends with 128 random bits.
  public static let answers = "_ANSWER"

  /// The prefix of the subjects for answers to an agent, without a dot at its end; no other agent may subscribe to them.
  public static func inbox(of agent: String) -> String { "_INBOX.agent.\(FleetSubject.token(agent))" }

  /// The subject for the answer of a replica to an agent; nil unless it lies in the inbox of that agent.
  public init?(_ text: String, of agent: String) { self.init(text, below: Self.inbox(of: agent), Self.tokens) }

  /// The subject for the answer of an agent to a replica; nil unless it is one for such answers.
  public init?(answer text: String) { self.init(text, below: Self.answers, 1...1) }

  /// A wildcard or an unusual character is in no token: wildcards in the subjects of replies have ended servers.
  private init?(_ text: String, below prefix: String, _ count: ClosedRange<Int>) {
    guard text.utf8.count <= Self.length, text.hasPrefix(prefix + ".") else { return nil }
    let tokens = text.utf8.dropFirst(prefix.utf8.count + 1).split(
      separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard count.contains(tokens.count), tokens.allSatisfy({ !$0.isEmpty && $0.allSatisfy(Self.isAlphanumeric) })
    else { return nil }
    description = text
  }

  private static func isAlphanumeric(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: false
    }
  }
}
