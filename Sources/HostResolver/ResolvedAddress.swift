/// One address of a name.
public struct ResolvedAddress: Sendable, Hashable {
  /// The address in network order: 4 bytes (IPv4) or 16 (IPv6).
  public let bytes: [UInt8]

  /// The interface index of a link-local IPv6 address (RFC 4007); 0 for none.
  public let scopeID: UInt32

  /// The remaining time to live; nil for addresses from the hosts file and for literals.
  ///
  /// It is the smallest time to live of the address and its CNAMEs, less the age of a cached answer.
  public let timeToLive: Duration?

  /// Makes an address; `bytes` are 4 or 16 in network order.
  public init(bytes: [UInt8], scopeID: UInt32 = 0, timeToLive: Duration? = nil) {
    precondition(bytes.count == 4 || bytes.count == 16, "an address has 4 or 16 bytes")
    self.bytes = bytes
    self.scopeID = scopeID
    self.timeToLive = timeToLive
  }

  func with(timeToLive: Duration?) -> ResolvedAddress {
    ResolvedAddress(bytes: bytes, scopeID: scopeID, timeToLive: timeToLive)
  }
}
