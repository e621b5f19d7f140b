extension RouteAnswer {
  /// The route, if there is one.
  package var found: Route? { if case .route(let route) = self { route } else { nil } }

  /// Whether the answer is newer than the tables: its interface is missing in them, or disabled in them.
  ///
  /// The kernel does not route through a disabled interface, except for local destinations when `lo` is down.
  package func isNewer(than tables: KernelTables) -> Bool {
    guard case .route(let route) = self, route.type != .local else { return false }
    return route.hops.indices.contains { position in
      guard position == route.taken else { return false }
      let interface = tables.interface(route.hops[position].interfaceIndex)
      return interface.map { !$0.flags.contains(.up) } ?? true
    }
  }
}
