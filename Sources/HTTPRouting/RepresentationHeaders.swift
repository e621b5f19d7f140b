package enum RepresentationHeaders {
  package static func headers(_ media: MediaType, tag: String? = nil) -> HTTPHeaders {
    var headers: HTTPHeaders = [
      "Content-Type": media.contentType, "Cache-Control": tag == nil ? "no-store" : "no-cache",
      "Vary": "Accept, Origin",
    ]
    headers["ETag"] = tag
    return SecurityHeaders.merged(into: headers)
  }

  /// Returns the headers of registered targets, whose URLs depend on the client's token.
  package static func ofTargets(_ media: MediaType) -> HTTPHeaders {
    var headers = headers(media)
    headers["Vary"] = "Accept, Authorization, Origin"
    return headers
  }

  package static let ofEventStream = SecurityHeaders.merged(into: [
    "Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Accel-Buffering": "no",
  ])
}
