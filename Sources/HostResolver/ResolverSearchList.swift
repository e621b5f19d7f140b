/// The full names that a short name may stand for (resolv.conf(5): `search`, `options ndots`).
///
/// c-ares has a search list of its own, but applies it to each family separately: a name could then get its IPv4
/// address from one domain and its IPv6 address from another.
struct ResolverSearchList: Equatable {
  var domains: [String] = []
  /// Names with fewer dots are tried with the domains first.
  var dots = 1

  /// The full names to query, in this order; never empty.
  ///
  /// The first one that exists is used.
  func candidates(_ name: String) -> [String] {
    if name.hasSuffix(".") { return [name] }
    let extended = domains.map { $0 == "." ? name : "\(name).\($0)" }
      .filter { $0 != name && $0.utf8.count <= Limits.nameBytes }
    return name.count { $0 == "." } >= dots ? [name] + extended : extended + [name]
  }
}
