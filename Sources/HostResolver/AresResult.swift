internal import CAres
internal import Glibc

/// Converts the arguments of c-ares' callback into values.
enum AresResult {
  static func outcome(
    _ status: Int32, _ list: UnsafeMutablePointer<ares_addrinfo>?
  ) -> Result<ResolvedAddresses, AresChannel.LookupFailure> {
    switch status {
    case cares_success:
      let found = unsafe addresses(list)
      return found.isEmpty ? .failure(.notFound) : .success(found)
    case cares_not_found, cares_no_data: return .failure(.notFound)
    case cares_timeout: return .failure(.timeout)
    case cares_refused:
      // c-ares 1.18 also returns this code when every server answered SERVFAIL, NOTIMP or REFUSED.
      return .failure(.failed("no DNS server can be reached, or all of them refuse (SERVFAIL, NOTIMP, REFUSED)"))
    default: return .failure(.failed(AresChannel.text(status)))
    }
  }

  private static func addresses(_ list: UnsafeMutablePointer<ares_addrinfo>?) -> ResolvedAddresses {
    guard let list = unsafe list else { return [] }
    // An address must not outlive the alias that led to it.
    var aliasLife = Int32.max
    var alias = unsafe list.pointee.cnames
    while let current = unsafe alias {
      unsafe aliasLife = min(aliasLife, current.pointee.ttl)
      unsafe alias = current.pointee.next
    }
    var found: [ResolvedAddress] = []
    var seen: Set<[UInt8]> = []
    var node = unsafe list.pointee.nodes
    while let current = unsafe node {
      unsafe node = current.pointee.ai_next
      let life = unsafe min(aliasLife, current.pointee.ai_ttl)
      // The hosts file has no times to live: c-ares reports 0, which is also a valid value of the DNS (see
      // ResolverLoop).
      guard let address = unsafe address(current.pointee, .seconds(max(0, Int(life)))) else { continue }
      if seen.insert(address.bytes).inserted { found.append(address) }
    }
    return ResolvedAddresses(found, limit: Limits.addressesPerFamily)
  }

  private static func address(_ node: ares_addrinfo_node, _ timeToLive: Duration) -> ResolvedAddress? {
    guard let raw = unsafe UnsafeRawPointer(node.ai_addr) else { return nil }
    let length = unsafe Int(node.ai_addrlen)
    switch unsafe node.ai_family {
    case AF_INET where length >= MemoryLayout<sockaddr_in>.size:
      let address = unsafe raw.loadUnaligned(as: sockaddr_in.self).sin_addr
      return ResolvedAddress(bytes: unsafe withUnsafeBytes(of: address) { unsafe Array($0) }, timeToLive: timeToLive)
    case AF_INET6 where length >= MemoryLayout<sockaddr_in6>.size:
      let address = unsafe raw.loadUnaligned(as: sockaddr_in6.self)
      return ResolvedAddress(
        bytes: unsafe withUnsafeBytes(of: address.sin6_addr) { unsafe Array($0) }, scopeID: address.sin6_scope_id,
        timeToLive: timeToLive)
    default: return nil
    }
  }
}
