// Requests and responses are the terms of a route: neither its importers nor the files here need a further import.
@_exported public import EmbeddedHTTPServer

/// One resource and method of a service, with the function that answers its requests.
package struct APIRoute<Service: AnyObject & Sendable>: Sendable {
  package typealias Handler = @Sendable (RouteContext<Service>) throws(Problem) -> HTTPReply

  package let declaration: RouteDeclaration
  package var handle: Handler

  /// Creates a route; the parameters are those of ``RouteDeclaration``.
  package init(
    method: String = "GET", pattern: String, parameters: Set<String> = [], repeatable: Set<String> = [],
    scope: AccessScope? = .read, mediaTypes: [MediaType], opening: RouteDeclaration.Opening? = nil,
    isCacheable: Bool = false,
    isCompressible: Bool = false, queueing: RouteDeclaration.Queueing = .never, summary: String,
    handle: @escaping Handler
  ) {
    declaration = RouteDeclaration(
      method: method, pattern: pattern, parameters: parameters, repeatable: repeatable, scope: scope,
      mediaTypes: mediaTypes, opening: opening, isCacheable: isCacheable, isCompressible: isCompressible,
      queueing: queueing, summary: summary)
    self.handle = handle
  }

  /// Returns the route of one service, which a ``Router`` can have beside those of other services.
  package func bound(to service: Service) -> BoundRoute {
    BoundRoute(declaration: declaration) { [handle] (request) throws(Problem) in
      try handle(RouteContext(service: service, routed: request))
    }
  }
}

/// A request with its route, and the objects that the service's routes use.
package struct RouteContext<Service: AnyObject & Sendable>: Sendable {
  package let service: Service
  package let routed: RoutedRequest

  package var request: HTTPRequest { routed.request }
  package var path: [String: String] { routed.path }
  package var query: [String: String] { routed.query }
  package var media: MediaType { routed.media }
  package var requestID: String { routed.requestID }
  package var client: String { routed.client }

  package func answer(_ problem: Problem) -> HTTPResponse { routed.answer(problem) }
}

package struct BoundRoute: Sendable {
  package let declaration: RouteDeclaration
  let handle: @Sendable (RoutedRequest) throws(Problem) -> HTTPReply
}
