internal import HTTPRouting
internal import History
internal import JSONFormat
internal import NetworkReachability
internal import TextSyntax

/// The query of `GET /history` and `GET /targets/{id}/history`.
struct HistoryListQuery {
  /// The default and maximum number of entries per page.
  static let defaultLimit = 100
  static let limitMaximum = 1_000
  /// The maximum number of subjects.
  static let subjectLimit = 64

  static let parameters: Set<String> = ["types", "states", "since", "until", "order", "limit", "cursor"]

  let filter: HistoryFilter
  private let context: RequestContext

  /// - Parameters:
  ///   - context: the request.
  ///   - subject: the subject of the path; nil for those of the query.
  ///   - now: the present time.
  /// - Throws: the problem with the first parameter that is not valid.
  init(_ context: RequestContext, subject: String?, now: Timestamp) throws(Problem) {
    var filter = HistoryFilter()
    self.context = context
    if let subject { filter.subjects = [subject] } else { filter.subjects = try Self.subjects(context) }
    filter.types = try Self.types(context.query["types"])
    filter.states = try Self.states(context.query["states"])
    if let since = try HistoryTimeParameter.moment("since", context, now: now) { filter.since = since.microseconds }
    if let until = try HistoryTimeParameter.moment("until", context, now: now) { filter.until = until.microseconds }
    filter.isDescending = try Self.isDescending(context.query["order"])
    filter.limit = try ListLimit.parse(context.query["limit"], Self.defaultLimit, Self.limitMaximum)
    filter.cursor = try Self.cursor(context.query["cursor"])
    self.filter = filter
  }

  private static func subjects(_ context: RequestContext) throws(Problem) -> [String] {
    let subjects = Set(context.request.query.filter { $0.name == "subject" }.map(\.value)).sorted()
    guard subjects.count <= subjectLimit else {
      throw Problem(
        .badRequest, "a request names at most \(subjectLimit) subjects, got \(subjects.count); omit subject for all")
    }
    for subject in subjects {
      let parts = subject.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      let isValid =
        switch parts.first {
        case "machine", "service": parts.count == 1
        case "interface": parts.count == 2 && !parts[1].isEmpty
        case "target", "gate": parts.count == 2 && TargetSpec.isID(String(parts[1]))
        default: false
        }
      guard isValid else {
        throw Problem(
          .badRequest,
          "subject must be machine, service, interface:NAME, target:ID or gate:ID, got \(subject.prefix(80).debugDescription)"
        )
      }
    }
    return subjects
  }

  private static func types(_ text: String?) throws(Problem) -> Set<EventType>? {
    guard let text else { return nil }
    var types: Set<EventType> = []
    for word in ListParameter.words(text) {
      guard let type = EventType(name: String(word)) else {
        let known = EventType.allCases.map(\.name).joined(separator: ", ")
        throw Problem(
          .badRequest, "unknown type \(String(word.prefix(80)).debugDescription); one of \(known) is required")
      }
      types.insert(type)
    }
    return types
  }

  private static func states(_ text: String?) throws(Problem) -> Set<StateCode>? {
    guard let text else { return nil }
    var states: Set<StateCode> = []
    for word in ListParameter.words(text) {
      let found = StateCode.allCases.filter { $0 != .none && $0.name == word }
      guard !found.isEmpty else {
        let names = StateCode.allCases.filter { $0 != .none }.map(\.name)
        let known = names.enumerated().filter { !names[..<$0].contains($1) }.map(\.element).joined(separator: ", ")
        throw Problem(
          .badRequest, "unknown state \(String(word.prefix(80)).debugDescription); one of \(known) is required")
      }
      states.formUnion(found)
    }
    return states
  }

  private static func isDescending(_ text: String?) throws(Problem) -> Bool {
    switch text {
    case nil, "desc": return true
    case "asc": return false
    case let text?:
      throw Problem(.badRequest, "order must be asc or desc, got \(text.prefix(80).debugDescription)")
    }
  }

  // MARK: - Pagination

  /// A letter for the version of the format, then the row's number: clients must not build cursors.
  private static let cursorPrefix = "e"

  private static func cursor(_ text: String?) throws(Problem) -> Int64? {
    guard let text else { return nil }
    guard text.hasPrefix(cursorPrefix), text.utf8.count <= 16, let id = Int64(text.dropFirst(), radix: 36), id > 0
    else {
      throw Problem(.badRequest, "invalid cursor \(text.prefix(80).debugDescription); use the URL of the Link header")
    }
    return id
  }

  /// Returns the page as a response with a weak entity tag.
  func response(_ page: HistoryPage) -> HTTPResponse {
    let next = page.next.map { Self.cursorPrefix + String($0, radix: 36) }
    let entries = page.entries.map(HistoryRepresentation.entry)
    let body: [UInt8]
    if context.media == .ndjson {
      body = entries.flatMap { $0.bytes + [0x0a] }
    } else {
      body = JSON.members(["history": .array(entries), "next": .text(next)]).bytes + [0x0a]
    }
    var headers = RepresentationHeaders.headers(context.media, tag: EntityTag(of: body, isWeak: true).description)
    if let next { headers["Link"] = "<\(link(next))>; rel=\"next\"" }
    return EntityTagList(ifNoneMatch: context.request)?.notModified(headers)
      ?? HTTPResponse(headers: headers, body: .bytes(body))
  }

  private func link(_ next: String) -> String {
    // The times are fixed, so that a relative one does not move from page to page.
    var items = context.request.query.filter { !["cursor", "since", "until"].contains($0.name) }
      .map { "\($0.name)=\(PercentEncoding.encoded($0.value))" }
    for (name, time) in [("since", filter.since), ("until", filter.until)] where context.query[name] != nil {
      items.append("\(name)=\(PercentEncoding.encoded(Timestamp(microseconds: time).description))")
    }
    return context.request.path + "?" + (items + ["cursor=\(next)"]).joined(separator: "&")
  }
}
