extension RouteAnswer {
  /// The route, when there is one.
  package var found: Route? { if case .route(let route) = self { route } else { nil } }

  /// Whether the kernel knew more than tables do when it answered: it leads through an interface that is not in them, or
  /// down in them, which the kernel would not; but for what stays on this machine, which it also does when `lo` is down.
  package func isNewer(than tables: KernelTables) -> Bool {
    guard case .route(let route) = self, route.type != .local else { return false }
    return route.hops.indices.contains { position in
      guard position == route.taken else { return false }
      let interface = tables.interface(route.hops[position].interfaceIndex)
      return interface.map { !$0.flags.contains(.up) } ?? true
    }
  }
}
