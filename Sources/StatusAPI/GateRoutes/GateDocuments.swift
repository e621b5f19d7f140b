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

  private struct Made {
    var revision: UInt64
    var changes: UInt64
    var body: SharedResponseBody
  }

  private struct State {
    /// The documents by the ids of the gates.
    var gates: [String: [Form: Made]] = [:]
    /// The list, as text or as JSON, since the last change of a gate.
    var lists: [Bool: SharedResponseBody] = [:]
    /// The number of changes.
    var changes = 0
  }

  /// The gates whose documents are kept: all of them, and some that were removed while a request read them.
  private static let limit = 4 * GateSpec.Bounds.gates

  private let state = Locked(State())
  private let schedule: CheckSchedule
  private let epoch: String

  /// Makes the documents of a schedule's gates, and reports their changes to the events, which have the epoch of the tags.
  init(_ schedule: CheckSchedule, _ events: ServiceEvents) {
    self.schedule = schedule
    epoch = events.tagEpoch
    schedule.gates.observe { [weak self, generation = events.generation] in
      self?.state.withLock { state in
        state.lists = [:]
        state.changes += 1
      }
      generation.advance()
    } didPublish: { [weak self, weak events] ids in
      self?.state.withLock { state in
        for id in ids { state.gates[id] = nil }
      }
      events?.gatesChanged(ids)
    }
  }

  /// Returns the document of a gate.
  func document(_ report: GateReport, _ form: Form) -> SharedResponseBody {
    let id = report.definition.id
    let known = state.withLock { $0.gates[id]?[form] }
    if let known, known.revision == report.revision, known.changes == report.changes { return known.body }
    let body = make(report, form)
    state.withLock { state in
      if state.gates.count >= Self.limit { state.gates = [:] }
      state.gates[id, default: [:]][form] = Made(revision: report.revision, changes: report.changes, body: body)
    }
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
      // No two representations share a strong tag (RFC 9110 §8.8.1).
      headers["ETag"] = form.isText ? EntityTag(tag.opaque + ".t").description : tag.description
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
  func list(isText: Bool) -> SharedResponseBody {
    let (known, changes) = state.withLock { ($0.lists[isText], $0.changes) }
    if let known { return known }
    let body = makeList(isText: isText)
    // One that is older than a change is not kept.
    state.withLock { if $0.changes == changes { $0.lists[isText] = body } }
    return body
  }

  private func makeList(isText: Bool) -> SharedResponseBody {
    let documents = schedule.gates.reports.map { JSON.object(Self.whole($0)) }
    let bytes =
      isText
      ? documents.flatMap { Array(((GateDocument.line($0) ?? "") + "\n").utf8) }
      : JSON.members(["gates": .array(documents)]).bytes + [0x0a]
    let tag = EntityTag(of: bytes, isWeak: true).description
    return SharedResponseBody(headers: RepresentationHeaders.headers(isText ? .text : .json, tag: tag), bytes: bytes)
  }
}
