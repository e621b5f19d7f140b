internal import CCurl

/// libcurl's transfers on the prober's thread.
///
/// They are divided into groups, because the time in which libcurl ends a transfer grows with the number of transfers
/// in the same handle.
@safe final class CurlTransfers {
  private unowned let loop: ProberLoop
  private(set) var groups: [CurlGroup] = []
  /// Unused handles: making one costs more than clearing it.
  private var idle: [UnsafeMutableRawPointer] = unsafe []

  init(_ loop: ProberLoop) { self.loop = loop }

  deinit { unsafe idle.forEach { unsafe curl_easy_cleanup($0) } }

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

  /// A cleared handle.
  func handle() -> UnsafeMutableRawPointer? {
    unsafe idle.popLast() ?? curl_easy_init()
  }

  /// Stores a handle for reuse, which must not be in a group.
  func recycle(_ handle: UnsafeMutableRawPointer) {
    unsafe curl_easy_reset(handle)
    if unsafe idle.count < Limits.curlHandles {
      unsafe idle.append(handle)
    } else {
      unsafe curl_easy_cleanup(handle)
    }
  }
}
