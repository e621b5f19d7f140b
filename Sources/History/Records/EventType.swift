/// A type of event: its name in documents, its number in the store, and its bit in the mask of a stream.
///
/// The numbers are consecutive, and never change.
public enum EventType: UInt8, Hashable, Sendable, CaseIterable {
  /// The machine's status or kind of connection.
  case status = 0
  /// The machine's path with the same status.
  case path = 1
  /// An interface.
  case interface = 2
  /// A registered target.
  case target = 3
  /// A start or a stop of the service, which only the history has.
  case service = 4
  /// A gate.
  case gate = 5

  /// The types of which clients receive events.
  public static let published = allCases.filter { $0 != .service }

  // The description of an enumeration is derived from metadata, which takes microseconds.
  private static let names = allCases.map { "\($0)" }

  /// The type with a name; nil if there is none.
  public init?(name: String) {
    guard let index = Self.names.firstIndex(of: name) else { return nil }
    self = Self.allCases[index]
  }

  /// The name in documents.
  public var name: String { Self.names[Int(rawValue)] }

  /// The bit in the mask of a stream.
  public var mask: UInt64 { 1 << UInt64(rawValue) }
}
