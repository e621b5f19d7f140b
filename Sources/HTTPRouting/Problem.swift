internal import JSONFormat
/// A client or server error as RFC 9457 problem details.
package struct Problem: Error {
  /// The closed list of errors, with the HTTP status of each.
  package enum Code: String, CaseIterable {
    case badRequest, unknownParameter, badHost, badTarget, notFound, methodNotAllowed, notAcceptable, unauthorized
    case forbidden, policyDenied, moduleDenied, quotaExceeded
    case hostNotAllowed, conflict, lengthRequired, preconditionFailed, tooLarge, unsupportedMedia, invalid
    case rateLimited, overloaded, draining, storeDisabled, storeUnavailable, engineUnavailable
    case `internal`

    /// The default status; 414 and 431 apply to parts of a request that are too large.
    package var status: Int {
      switch self {
      case .badRequest, .unknownParameter, .badHost, .badTarget: 400
      case .unauthorized: 401
      case .forbidden, .policyDenied, .moduleDenied, .quotaExceeded, .hostNotAllowed: 403
      case .notFound: 404
      case .methodNotAllowed: 405
      case .notAcceptable: 406
      case .conflict: 409
      case .lengthRequired: 411
      case .preconditionFailed: 412
      case .tooLarge: 413
      case .unsupportedMedia: 415
      case .invalid: 422
      case .rateLimited: 429
      case .internal: 500
      case .overloaded, .draining, .storeDisabled, .storeUnavailable, .engineUnavailable: 503
      }
    }

    /// A short summary, the same for every problem of this code.
    package var title: String {
      switch self {
      case .badRequest: "Malformed request"
      case .unknownParameter: "Unknown query parameter"
      case .badHost: "Invalid host"
      case .badTarget: "Invalid target"
      case .notFound: "Not found"
      case .methodNotAllowed: "Method not allowed"
      case .notAcceptable: "Not acceptable"
      case .unauthorized: "Authentication required"
      case .forbidden: "Forbidden"
      case .policyDenied: "Target denied by the contact policy"
      case .moduleDenied: "Module denied for this target"
      case .quotaExceeded: "Quota exceeded"
      case .hostNotAllowed: "Host header not allowed"
      case .conflict: "Conflict with the state of the resource"
      case .lengthRequired: "Content-Length required"
      case .preconditionFailed: "Precondition failed"
      case .tooLarge: "Request too large"
      case .unsupportedMedia: "Unsupported media type"
      case .invalid: "Invalid value"
      case .rateLimited: "Rate limit exceeded"
      case .overloaded: "Server overloaded"
      case .draining: "Server shutting down"
      case .storeDisabled: "No history"
      case .storeUnavailable: "Store unavailable"
      case .engineUnavailable: "Engine unavailable"
      case .internal: "Internal server error"
      }
    }
  }

  package let code: Code
  package let detail: String
  package let status: Int
  var headers = HTTPHeaders()
  /// The invalid parts of a body.
  package let errors: [FieldError]

  package init(
    _ code: Code, _ detail: String, status: Int? = nil, headers: HTTPHeaders = HTTPHeaders(), errors: [FieldError] = []
  ) {
    self.errors = errors
    self.code = code
    self.detail = detail
    self.status = status ?? code.status
    self.headers = headers
  }

  /// Returns the problem as a response; `requestID` identifies this occurrence.
  package func response(requestID: String) -> HTTPResponse {
    var members: [JSON.Member] = [
      .init(name: "type", value: .string("urn:reachd:problem:\(code.rawValue)")),
      .init(name: "title", value: .string(code.title)),
      .init(name: "status", value: .integer(Int64(status))),
      .init(name: "detail", value: .string(detail)),
      .init(name: "instance", value: .string("urn:reachd:request:\(requestID)")),
      .init(name: "code", value: .string(code.rawValue)),
    ]
    if !errors.isEmpty {
      members.append(.init(name: "errors", value: .array(errors.map(\.document))))
    }
    let body = JSON.object(members)
    var headers = headers
    headers["Content-Type"] = "application/problem+json"
    headers["Cache-Control"] = "no-store"
    headers["X-Request-Id"] = requestID
    return HTTPResponse(
      status: status, headers: SecurityHeaders.merged(into: headers), body: .bytes(body.bytes + Array("\n".utf8)))
  }

  /// Converts a refusal by the HTTP server.
  init(_ refusal: RequestRefusal) {
    let code: Code =
      switch refusal.rule {
      case .lengthRequired: .lengthRequired
      case .bodyTooLarge, .headTooLarge: .tooLarge
      case .tooManyConnections: .rateLimited
      case .overloaded: .overloaded
      case .draining: .draining
      case .noReply: .internal
      default: .badRequest
      }
    self.init(code, refusal.detail, status: refusal.status)
    if let seconds = refusal.retryAfterSeconds { headers["Retry-After"] = String(seconds) }
    if refusal.status < 500, refusal.rule != .bodyTooLarge { headers["Connection"] = "close" }
  }
}

extension Problem {
  package init(fields: [FieldError]) {
    let list = fields.prefix(3).map { "\($0.pointer.isEmpty ? "the body" : $0.pointer): \($0.detail)" }
    let more = fields.count > 3 ? "; and \(fields.count - 3) more" : ""
    self.init(.invalid, list.joined(separator: "; ") + more, errors: fields)
  }

  /// Creates the problem for an invalid id of a target or an agent.
  package init(invalidID text: String, of kind: String = "target") {
    self.init(
      .badRequest,
      "invalid \(kind) id \(text.prefix(80).debugDescription); "
        + "expected 1 to 68 characters of a-z, 0-9, dot, underscore and hyphen")
  }
}
