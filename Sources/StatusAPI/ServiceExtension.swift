package import StatusPage

/// What another module adds to the HTTP interface of a process.
package struct ServiceExtension: Sendable {
  /// Further routes, in the order of the index.
  let routes: [APIRoute]
  /// The status page's document for `GET /`, in place of the node's.
  let document: StatusPage.File
  let index: RouteIndex

  package init(routes: [APIRoute], document: StatusPage.File) {
    self.routes = routes
    self.document = document
    index = RouteIndex(routes)
  }
}
