internal import CCurl

/// libcurl's transfers on the prober's thread.
///
/// In groups, because what libcurl does to end a transfer takes as long as there are others beside it.
@safe final class CurlTransfers {
  private unowned let loop: ProberLoop
  private(set) var groups: [CurlGroup] = []
  /// Handles that are not in use: making one costs more than clearing it.
  private var idle: [UnsafeMutableRawPointer] = unsafe []

  init(_ loop: ProberLoop) { self.loop = loop }

  deinit { unsafe idle.forEach { unsafe curl_easy_cleanup($0) } }

  /// A group that has room for one more; nil if libcurl cannot be had.
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

  /// Takes a handle back that is in no group.
  func recycle(_ handle: UnsafeMutableRawPointer) {
    unsafe curl_easy_reset(handle)
    if unsafe idle.count < Limits.curlHandles {
      unsafe idle.append(handle)
    } else {
      unsafe curl_easy_cleanup(handle)
    }
  }
}
