internal import CCurl
internal import Glibc

/// libcurl's transfers on the prober's thread: its sockets are watched by our epoll, its one timer is one of our alarms.
@safe final class CurlTransfers: Watcher {
  private let multi: UnsafeMutableRawPointer
  private unowned let loop: ProberLoop
  /// Handles that are not in use: making one costs more than clearing it.
  private var idle: [UnsafeMutableRawPointer] = unsafe []

  init?(_ loop: ProberLoop) {
    guard HTTPClient.globalCode == CURLE_OK, let new = unsafe curl_multi_init() else { return nil }
    unsafe multi = new
    self.loop = loop
    let context = unsafe Unmanaged.passUnretained(self).toOpaque()
    unsafe ccurl_multi_set_socket_callback(multi, curlWatches, context)
    unsafe ccurl_multi_set_timer_callback(multi, curlSetsTimer, context)
    // A check says how it is now: nothing of an earlier one is used again.
    unsafe ccurl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, 1)
    unsafe ccurl_multi_set_long(multi, CURLMOPT_PIPELINING, Int(CURLPIPE_NOTHING))
  }

  deinit {
    unsafe idle.forEach { unsafe curl_easy_cleanup($0) }
    unsafe curl_multi_cleanup(multi)
  }

  /// A cleared handle.
  func handle() -> UnsafeMutableRawPointer? {
    unsafe idle.popLast() ?? curl_easy_init()
  }

  func start(_ handle: UnsafeMutableRawPointer) -> Bool { unsafe curl_multi_add_handle(multi, handle) == CURLM_OK }

  /// Ends a transfer, and its connection.
  func end(_ handle: UnsafeMutableRawPointer) {
    unsafe curl_multi_remove_handle(multi, handle)
    unsafe curl_easy_reset(handle)
    if unsafe idle.count < Limits.curlHandles {
      unsafe idle.append(handle)
    } else {
      unsafe curl_easy_cleanup(handle)
    }
  }

  func ready(_ ready: EventPoller.Ready) {
    let mask = (ready.isReadable ? CURL_CSELECT_IN : 0) | (ready.isWritable ? CURL_CSELECT_OUT : 0)
    act(ready.descriptor, mask)
  }

  /// libcurl's timer has rung.
  func ring() { act(curl_socket_t(CURL_SOCKET_TIMEOUT), 0) }

  private func act(_ descriptor: Int32, _ mask: Int32) {
    var running: Int32 = 0
    unsafe curl_multi_socket_action(multi, descriptor, mask, &running)
    // Only now, outside of libcurl's callbacks, handles may be taken away.
    var left: Int32 = 0
    while let message = unsafe curl_multi_info_read(multi, &left) {
      guard unsafe message.pointee.msg == CURLMSG_DONE, let handle = unsafe message.pointee.easy_handle,
        let context = unsafe ccurl_get_private(handle)
      else { continue }
      let result = unsafe ccurl_result(message)
      unsafe Unmanaged<HTTPExchange>.fromOpaque(context).takeUnretainedValue().finished(result)
    }
  }

  fileprivate func watch(_ descriptor: Int32, _ what: Int32) {
    let isOver = what == CURL_POLL_REMOVE
    loop.register(descriptor, isOver ? nil : self)
    loop.poller.watch(
      descriptor, reading: !isOver && what & CURL_POLL_IN != 0, writing: !isOver && what & CURL_POLL_OUT != 0)
  }

  fileprivate func setTimer(_ milliseconds: Int) {
    loop.setCurlAlarm(milliseconds < 0 ? nil : .now.advanced(by: .milliseconds(milliseconds)))
  }

  /// For libcurl: a connection is over.
  func close(_ descriptor: Int32) { loop.close(descriptor) }
}

private func curlWatches(
  _ handle: UnsafeMutableRawPointer?, _ descriptor: curl_socket_t, _ what: Int32, _ context: UnsafeMutableRawPointer?,
  _ unused: UnsafeMutableRawPointer?
) -> Int32 {
  guard let context = unsafe context else { return 0 }
  unsafe Unmanaged<CurlTransfers>.fromOpaque(context).takeUnretainedValue().watch(descriptor, what)
  return 0
}

private func curlSetsTimer(
  _ multi: UnsafeMutableRawPointer?, _ milliseconds: Int, _ context: UnsafeMutableRawPointer?
) -> Int32 {
  guard let context = unsafe context else { return 0 }
  unsafe Unmanaged<CurlTransfers>.fromOpaque(context).takeUnretainedValue().setTimer(milliseconds)
  return 0
}
