internal import Compression
internal import Credentials
internal import HTTPRouting
internal import Locks
internal import StatusPage

/// The status page: its document at `/`, for clients that prefer HTML, and its files.
///
/// Both are open without a token, because they contain no data; the page requests data with its own token.
enum PageRoutes {
  /// The policy of the page and of its files: a worker obeys the policy of its own response.
  ///
  /// It identifies the style sheet and the script in the document by their digests.
  static let contentSecurityPolicy = """
    default-src 'none'; script-src 'self' 'sha256-\(digest(of: StatusPage.reload))'; \
    style-src 'self' 'sha256-\(digest(of: StatusPage.style))'; img-src 'self'; connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
    require-trusted-types-for 'script'; trusted-types reachd
    """

  private static func digest(of text: String) -> String { SHA256Digest(of: text.utf8)?.base64 ?? "" }

  static let file = NodeRoute(
    pattern: "/page/{build}/{file}", scope: nil, mediaTypes: [.any], summary: "the files of the status page"
  ) { (context) throws(Problem) in
    guard context.service.settings.current.servesPage, context.path["build"] == StatusPage.build,
      let name = context.path["file"], let file = StatusPage.files[name]
    else { throw Problem(.notFound, "this version of the page has no such file; GET / returns the current page") }
    return .now(HTTPResponse(shared: bodies.body(of: file, isCompressed: ContentCoding.acceptsGzip(context.request))))
  }

  /// Returns the document for `GET /`.
  static func document(_ document: StatusPage.File, _ context: RequestContext) -> HTTPResponse {
    let body = bodies.body(of: document, isCompressed: ContentCoding.acceptsGzip(context.request))
    return EntityTagList(ifNoneMatch: context.request)?.notModified(body.headers) ?? HTTPResponse(shared: body)
  }

  private static let bodies = PageBodies()
}

/// The responses of the page's files, compressed at their first use.
private final class PageBodies: Sendable {
  private struct Key: Hashable {
    var name: String
    var isCompressed: Bool
  }

  private let made = Locked<[Key: SharedResponseBody]>([:])

  func body(of file: StatusPage.File, isCompressed: Bool) -> SharedResponseBody {
    let key = Key(name: file.name, isCompressed: isCompressed)
    return made.withLock { made in
      if let body = made[key] { return body }
      let body = Self.makeBody(file, isCompressed)
      made[key] = body
      return body
    }
  }

  private static func makeBody(_ file: StatusPage.File, _ isCompressed: Bool) -> SharedResponseBody {
    let isDocument = [StatusPage.document.name, StatusPage.fleetDocument.name].contains(file.name)
    var headers = SecurityHeaders.merged(into: [
      "Content-Type": file.contentType,
      "Cache-Control": isDocument ? "no-cache" : "public, max-age=31536000, immutable",
      "Vary": isDocument ? "Accept, Accept-Encoding, Origin" : "Accept-Encoding",
      "Referrer-Policy": "no-referrer",
    ])
    headers["Content-Security-Policy"] = PageRoutes.contentSecurityPolicy
    let compressed =
      isCompressed && file.bytes.count >= ContentCoding.minimumBytes
      ? Gzip.compressed(file.bytes, effort: .best) : nil
    if compressed != nil { headers["Content-Encoding"] = "gzip" }
    // Two codings must not share a strong tag (RFC 9110 §8.8.3).
    if isDocument { headers["ETag"] = "\"\(StatusPage.build)\(compressed == nil ? "" : "-gzip")\"" }
    return SharedResponseBody(headers: headers, bytes: compressed ?? file.bytes)
  }
}
