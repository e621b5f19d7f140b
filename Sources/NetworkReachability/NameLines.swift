package import Names

/// Who asks for names, in four lines with a memory each.
///
/// A name that no server answers holds one of a line's few places for some seconds: so nobody who asks once keeps a name
/// waiting that is watched or checked again and again.
package struct NameLines: Sendable {
  /// For names that are watched.
  let watches: Resolver
  /// For names that nobody watches but visitors of a service.
  let visits: Resolver
  /// For names that are checked.
  package let checks: Resolver
  /// For names that somebody wants to know once.
  package let visitors: Resolver

  init(_ configuration: Resolver.Configuration) {
    (watches, visits) = (Resolver(configuration), Resolver(configuration))
    (checks, visitors) = (Resolver(configuration), Resolver(configuration))
  }

  /// Has all forget what they know: another network may have other answers.
  func flush() {
    for resolver in [watches, visits, checks, visitors] { resolver.flush() }
  }
}
