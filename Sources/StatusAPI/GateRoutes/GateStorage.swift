internal import Events
internal import History
internal import HTTPRouting
internal import JSONFormat
internal import Logging
internal import ReachabilityChecks

/// The gates in the store, which are states of subjects.
enum GateStorage {
  /// The gates of an earlier process.
  static func restored(_ subjects: [String: [UInt8]], _ logger: Logger) -> [RestoredGate] {
    subjects.compactMap { subject, bytes in
      guard let id = HistorySubject.gateID(in: subject) else { return nil }
      do throws(TargetDecoder.InvalidFields) {
        return try restored(id, bytes)
      } catch {
        logger.error(
          "a stored gate is not restored", metadata: ["gate": "\(id)", "error": "\(error.errors.first?.detail ?? "")"])
        return nil
      }
    }
  }

  private static func restored(_ id: String, _ bytes: [UInt8]) throws(TargetDecoder.InvalidFields) -> RestoredGate {
    guard let document = try? JSON.parse(bytes), let origin = document["origin"]?.string.flatMap(TargetOrigin.init),
      let state = document["state"]?.string.flatMap(GateState.init),
      let since = document["since"]?.string.flatMap({ Timestamp($0) })
    else { throw TargetDecoder.InvalidFields(errors: [FieldError(pointer: "", detail: "it is not a gate")]) }
    let definition = try GateDecoder.definition(document, id: id)
    return RestoredGate(definition: definition, origin: origin, state: state, since: since)
  }

  /// The gates in force as they are stored.
  static func states(_ gates: [GateReport]) -> [(subject: String, state: [UInt8])] {
    gates.map { (subject: HistorySubject.gate($0.definition.id), state: GateDocument.stored($0)) }
  }
}
