internal import Events
internal import HTTPRouting
internal import JSONFormat
internal import Locks
internal import ReachabilityChecks

/// The documents of gates as responses, each of which is made once after a change: probes request them every second.
final class GateDocuments: Sendable {
  /// A representation of a gate.
  struct Form: Hashable {
    var isText: Bool
    /// Whether it has no names: only the state and its reason.
    var isRedacted: Bool
    /// Whether it has an entity tag.
    var isTagged: Bool
  }

  private struct Key: Hashable {
    var id: String
    var form: Form
  }

  private struct Made {
    var revision: UInt64
    var changes: UInt64
    var body: SharedResponseBody
  }

  private let made = Locked<[Key: Made]>([:])
  private let epoch: String

  /// Makes the documents of a schedule's gates, and reports their changes to the events, which have the epoch of the tags.
  init(_ schedule: CheckSchedule, _ events: ServiceEvents) {
    epoch = events.tagEpoch
    schedule.gates.observe { [weak self, weak events] ids in
      self?.remove(ids)
      events?.gatesChanged(ids)
    }
  }

  private func remove(_ ids: Set<String>) { made.withLock { made in made = made.filter { !ids.contains($0.key.id) } } }

  /// Returns the document of a gate.
  func document(_ report: GateReport, _ form: Form) -> SharedResponseBody {
    let key = Key(id: report.definition.id, form: form)
    let known = made.withLock { $0[key] }
    if let known, known.revision == report.revision, known.changes == report.changes { return known.body }
    let body = make(report, form)
    made.withLock { $0[key] = Made(revision: report.revision, changes: report.changes, body: body) }
    return body
  }

  private func make(_ report: GateReport, _ form: Form) -> SharedResponseBody {
    let media: MediaType = form.isText ? .text : .json
    var headers = RepresentationHeaders.headers(media)
    // What a client may read depends on its token.
    headers["Vary"] = "Accept, Authorization, Origin"
    if form.isTagged {
      let tag = EntityTag(
        definition: EventID(epoch: epoch, sequence: report.revision), state: report.changes,
        isRedacted: form.isRedacted)
      headers["ETag"] = tag.description
      headers["Cache-Control"] = "no-cache"
    }
    let members = form.isRedacted ? GateDocument.state(report) : Self.whole(report)
    let document = JSON.object(members)
    let bytes = form.isText ? Array((GateDocument.line(document) ?? "").utf8) : document.bytes
    return SharedResponseBody(headers: headers, bytes: bytes + [0x0a])
  }

  private static func whole(_ report: GateReport) -> [JSON.Member] {
    GateDocument.summary(report) + GateDocument.definition(report.definition) + [
      .init(name: "origin", value: .string(report.origin.rawValue))
    ]
  }

  /// Returns the list of gates.
  func list(_ reports: [GateReport], isText: Bool) -> SharedResponseBody {
    let documents = reports.map { JSON.object(Self.whole($0)) }
    let bytes =
      isText
      ? documents.flatMap { Array(((GateDocument.line($0) ?? "") + "\n").utf8) }
      : JSON.members(["gates": .array(documents)]).bytes + [0x0a]
    let tag = EntityTag(of: bytes, isWeak: true).description
    return SharedResponseBody(headers: RepresentationHeaders.headers(isText ? .text : .json, tag: tag), bytes: bytes)
  }
}
