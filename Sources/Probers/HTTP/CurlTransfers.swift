internal import CCurl

/// libcurl's transfers on the prober's thread.
///
/// They are divided into groups, because the time in which libcurl ends a transfer grows with the number of transfers
/// in the same handle.
@safe final class CurlTransfers {
  private unowned let loop: ProberLoop
  private(set) var groups: [CurlGroup] = []
  private var idle: [HTTPTransfer] = []

  init(_ loop: ProberLoop) { self.loop = loop }

  /// Ends all groups, with the connections that libcurl has kept.
  func cleanUp() {
    groups.forEach { $0.cleanUp() }
    groups = []
  }

  /// A group with capacity for one more transfer; nil if libcurl is not available.
  func group() -> CurlGroup? {
    if let known = groups.first(where: \.hasCapacity) { return known }
    guard let new = CurlGroup(groups.count, loop) else { return nil }
    groups.append(new)
    return new
  }

  /// An unused transfer; nil if libcurl is not available.
  func transfer() -> HTTPTransfer? { idle.popLast() ?? HTTPTransfer() }

  /// Stores a transfer for reuse, which has ended.
  func recycle(_ transfer: HTTPTransfer) {
    if idle.count < Limits.curlTransfers, transfer.clear() { idle.append(transfer) }
  }
}
