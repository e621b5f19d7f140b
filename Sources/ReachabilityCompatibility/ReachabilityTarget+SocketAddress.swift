internal import Foundation
internal import NetworkReachability

extension ReachabilityTarget {
  /// The target of a host as SCNetworkReachability takes it: nil for the empty text only.
  ///
  /// Any other text that is not a host, such as a URL, becomes a name that is never found.
  package init?(anyHost text: String) {
    guard !text.isEmpty else { return nil }
    self = (try? ReachabilityTarget(host: text)) ?? ReachabilityTarget(.name(text))
  }

  /// The target of an address: the zero address is the default path, 169.254.0.0 the local link.
  init(_ address: IPAddress) {
    if address.isUnspecified {
      self = .default
    } else if address == IPAddress(ipv4: 0xa9fe_0000) {
      self = .localLink
    } else {
      self.init(.address(address))
    }
  }

  /// The target of an IPv4 socket address.
  init(_ address: sockaddr_in) {
    self.init(IPAddress(ipv4: UInt32(bigEndian: address.sin_addr.s_addr)))
  }
}
