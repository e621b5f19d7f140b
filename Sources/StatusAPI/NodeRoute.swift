package import HTTPRouting
package import StatusPage

/// A route of a node.
typealias NodeRoute = APIRoute<StatusService>

/// A request to a node with its route.
typealias RequestContext = RouteContext<StatusService>

extension NodeRoute {
  /// Returns the route of a service; its changes of registered targets are answered when they are committed.
  fileprivate func served(by service: StatusService) -> BoundRoute {
    var route = self
    if declaration.scope == .targetsWrite, let store = service.events.store {
      route.handle = { [handle] (context) throws(Problem) in
        DurableTargetReply.afterCommit(try handle(context), in: store, context)
      }
    }
    return route.bound(to: service)
  }
}

extension Router {
  /// Creates what handles the requests to the routes of a node, and to those of another module.
  ///
  /// - Parameters:
  ///   - service: the node's service.
  ///   - others: the routes of another module, which follow in the index.
  ///   - page: the status page's document for `GET /`.
  package init(_ service: StatusService, adding others: [BoundRoute] = [], page: StatusPage.File = StatusPage.document)
  {
    let index = IndexRoutes.makeIndex(listing: others.map(\.declaration), page: page)
    let routes = [index] + RouteTable.all.dropFirst()
    self.init(service.environment, routes.map { $0.served(by: service) } + others)
  }
}
