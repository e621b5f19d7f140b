internal import JSONFormat
package import NetworkReachability

package struct StateDocuments: Sendable {
  /// A document without its line end.
  package struct Document: Sendable {
    package fileprivate(set) var bytes: [UInt8]
    /// How often the content has changed; entity tags contain this number.
    package fileprivate(set) var revision: UInt64 = 0
  }

  /// The state.
  package let snapshot: Snapshot
  /// The number of the last event in the log, which may concern a registered target and none of the documents.
  package internal(set) var lastSequence: UInt64
  /// The document of `/status`.
  package private(set) var status: Document
  /// The document of `/interfaces`.
  package private(set) var interfaces: Document

  init(_ snapshot: Snapshot, after old: StateDocuments?, epoch: String) {
    self.snapshot = snapshot
    lastSequence = max(snapshot.sequence, old?.lastSequence ?? 0)
    let listed = snapshot.interfacesByPreference.map { StatusRepresentation.interface($0, among: snapshot.interfaces) }
    status = Document(bytes: StatusRepresentation.document(snapshot, epoch: epoch).bytes)
    interfaces = Document(bytes: JSON.members(["interfaces": .array(listed)]).bytes)
    guard let old else { return }
    // By content and not by events: the first reading after a start has interfaces, but no event for them.
    status.revision = old.status.revision + (status.bytes == old.status.bytes ? 0 : 1)
    interfaces.revision = old.interfaces.revision + (interfaces.bytes == old.interfaces.bytes ? 0 : 1)
  }
}
