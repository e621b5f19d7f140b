internal import ArgumentParser
internal import JSONFormat
internal import StatusClient
internal import TextSyntax

extension ClientOptions {
  /// The largest number of targets per page that a service allows.
  private static let targetsPerPage = 1000
  /// The maximum number of pages; a service cannot have that many targets.
  private static let targetPageLimit = 10_000

  /// Requests all pages of `GET /targets`.
  ///
  /// - Parameters:
  ///   - selection: the parameters `state` and `label`; nil for all.
  ///   - source: the source of the configuration.
  ///   - body: receives each page and its text; its error ends the requests.
  /// - Throws: the exit code 2, after printing the problem, if a page cannot be read; the error of `body`.
  func forEachTargetPage(
    _ selection: [(name: String, value: String?)] = [], _ source: SourceOptions, _ body: (JSON, String) throws -> Void
  ) throws {
    try forEachPage(atMost: Self.targetPageLimit, source, body) { cursor in
      let query = (selection + [("limit", String(Self.targetsPerPage)), ("cursor", cursor)])
        .compactMap { name, value in value.map { "\(name)=\(PercentEncoding.encoded($0))" } }
      return "/targets?" + query.joined(separator: "&")
    }
  }

  /// Requests the pages of a list of targets.
  ///
  /// - Parameters:
  ///   - limit: the maximum number of pages.
  ///   - isOptional: whether a service may have no such route.
  ///   - source: the source of the configuration.
  ///   - body: receives each page and its text; its error ends the requests.
  ///   - path: the path of the page after a cursor.
  /// - Returns: whether the service has the route.
  /// - Throws: the exit code 2, after printing the problem, if a page cannot be read; the error of `body`.
  @discardableResult
  func forEachPage(
    atMost limit: Int, isOptional: Bool = false, _ source: SourceOptions, _ body: (JSON, String) throws -> Void,
    at path: (_ cursor: String?) -> String
  ) throws -> Bool {
    var cursor: String?
    for _ in 0..<limit {
      let answer = try sendOrExit("GET", path(cursor), source)
      if isOptional, answer.status == 404 { return false }
      let document = try? JSON.parse(answer.body)
      guard answer.status == 200, let document, document["targets"]?.elements != nil else {
        throw Self.unexpected(answer)
      }
      let text = String(decoding: answer.body, as: UTF8.self)
      try body(document, text.hasSuffix("\n") ? String(text.dropLast()) : text)
      cursor = document["next"]?.string
      if cursor == nil { break }
    }
    return true
  }

  /// Requests all pages of `GET /fleet/targets`.
  ///
  /// - Parameters:
  ///   - verdict: the verdict of the targets; nil for all.
  ///   - source: the source of the configuration.
  ///   - body: receives each page and its text.
  /// - Returns: whether the service is a replica of a fleet.
  /// - Throws: the exit code 2, after printing the problem, if a page cannot be read; the error of `body`.
  @discardableResult
  func forEachFleetPage(
    verdict: String? = nil, _ source: SourceOptions, _ body: (JSON, String) throws -> Void
  ) throws -> Bool {
    // Other services have no such route.
    try forEachPage(atMost: FleetPages.limit, isOptional: true, source, body) {
      FleetPages.path(after: $0, verdict: verdict)
    }
  }

  /// Requests a JSON document that has an array under a name.
  ///
  /// - Parameters:
  ///   - path: the path with its query.
  ///   - member: the name of the array.
  ///   - source: the source of the configuration.
  /// - Returns: the document.
  /// - Throws: the exit code 2, after a report; or the problem in the configuration.
  func document(_ path: String, member: String, _ source: SourceOptions) throws -> JSON {
    let answer = try sendOrExit("GET", path, source)
    let document = try? JSON.parse(answer.body)
    guard answer.status == 200, let document, document[member]?.elements != nil else {
      throw Self.unexpected(answer)
    }
    return document
  }

  /// Sends a request for targets; if there is no response, prints the reason and throws the exit code 2.
  func sendOrExit(
    _ method: String, _ path: String, accept: String = "application/json", body: String? = nil,
    fields: [String: String] = [:], _ source: SourceOptions
  ) throws -> HTTPClient.Response {
    do {
      return try send(path, method: method, accept: accept, body: body, fields: fields, source)
    } catch let error where !(error is ExitCode) {
      throw Self.noResponse(error)
    }
  }

  /// Prints why there is no response, with what the user can do about it, and returns the exit code 2.
  static func noResponse(_ error: any Error) -> ExitCode {
    defer { if let hint = (error as? HTTPClientError)?.hint { Terminal.writeError("reachd: \(hint)") } }
    return undetermined("\(error)")
  }

  /// The message about an id without a target, for a user of the command line instead of the API.
  static func unknownTarget(_ id: String) -> String {
    "reachd: no target has the id \(HTTPClient.Response.displayText(id.debugDescription)); see reachd targets"
  }

  /// Prints an unexpected response and returns the exit code: 64 if the service refused a value of the command line.
  static func unexpected(_ response: HTTPClient.Response) -> ExitCode {
    guard let detail = response.detail else {
      let text = String(decoding: response.body, as: UTF8.self)
      let media = response.contentType.map { " \($0)" } ?? ""
      let body = text.isEmpty ? "" : ": \(HTTPClient.Response.displayText(text))"
      Terminal.writeError("reachd: the response is not from reachd: status \(response.status)\(media)\(body)")
      Terminal.writeError("reachd: --url or REACHD_URL names another address")
      return ExitStatus.undetermined
    }
    Terminal.writeError(
      "reachd: the service responded with \(response.status): \(HTTPClient.Response.displayText(detail))")
    return response.status == 400 ? ExitCode.validationFailure : ExitStatus.undetermined
  }

  /// Prints a problem and returns the exit code 2.
  static func undetermined(_ problem: String) -> ExitCode {
    Terminal.writeError("reachd: \(problem)")
    return ExitStatus.undetermined
  }
}
