package import History
internal import JSONFormat
package import NetworkReachability

extension TargetRecord {
  /// The row of a registered target: its definition as the JSON document that registers it, and its status.
  package init(_ report: TargetReport) {
    let definition = report.definition
    let document = JSON.members([
      "id": .string(definition.id),
      "target": .string(definition.target.description),
      "module": .string(definition.module.name),
      "labels": TargetSummary.labels(definition),
      "interval": .string(DurationFormat.shortest(definition.interval)),
      "timeout": .string(DurationFormat.shortest(definition.timeout)),
      "fastInterval": .string(DurationFormat.shortest(definition.fastInterval)),
      "fall": .integer(Int64(definition.fall)),
      "rise": .integer(Int64(definition.rise)),
      "paused": .bool(definition.isPaused),
      "dependsOn": TargetSummary.dependsOn(definition.dependsOn),
    ])
    self.init(
      id: definition.id, definition: String(decoding: document.bytes, as: UTF8.self), origin: report.origin.rawValue,
      revision: report.revision, state: report.storedState, token: report.token)
  }
}

extension TargetReport {
  /// The status as it is stored, and the number of its changes.
  var storedState: [UInt8] {
    StoredTargetState(status: status.restorable, changes: changes, isPausedByConfiguration: isPausedByConfiguration)
      .bytes
  }
}
