internal import CCurl
internal import Glibc
internal import EventLoop

/// A group of libcurl transfers on the prober's thread: the contents of one "multi" handle.
///
/// The loop's poller watches the sockets, and a timer of the loop is the handle's only timer.
@safe final class CurlGroup: ProberDescriptorHandler {
  /// An exchange whose transfer has ended.
  private struct Finished {
    let exchange: HTTPExchange
    let result: CURLcode
  }

  private let multi: UnsafeMutableRawPointer
  private unowned let loop: ProberLoop
  let number: Int
  private var count = 0
  /// The sockets that libcurl has watched and not closed.
  private var sockets: Set<Int32> = []

  init?(_ number: Int, _ loop: ProberLoop) {
    guard CurlLibrary.globalCode == CURLE_OK, let new = unsafe curl_multi_init() else { return nil }
    unsafe multi = new
    self.number = number
    self.loop = loop
    let context = unsafe Unmanaged.passUnretained(self).toOpaque()
    unsafe ccurl_multi_set_socket_callback(multi, curlSocketCallback, context)
    unsafe ccurl_multi_set_timer_callback(multi, curlTimerCallback, context)
    // A check reports the current state: no connection of an earlier check is used again.
    unsafe ccurl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, 1)
    unsafe ccurl_multi_set_long(multi, CURLMOPT_PIPELINING, Int(CURLPIPE_NOTHING))
  }

  /// Frees the handle, when all transfers have ended; the group cannot be used any more.
  ///
  /// Not when the group is released: libcurl then closes the connections that it has kept until their servers close them, and
  /// calls the loop, which is the group's owner.
  func cleanUp() { unsafe curl_multi_cleanup(multi) }

  var hasCapacity: Bool { count < Limits.curlGroup }

  func start(_ handle: UnsafeMutableRawPointer) -> Bool {
    count += 1
    // The connection may be closed after the transfer.
    unsafe ccurl_set_pointer(handle, CURLOPT_CLOSESOCKETDATA, Unmanaged.passUnretained(self).toOpaque())
    return unsafe curl_multi_add_handle(multi, handle) == CURLM_OK
  }

  /// Ends a transfer that was started, whether or not it is complete, and its connection.
  ///
  /// libcurl 8.14 waits after a response until the server closes the TLS connection, and the timer that would end the wait is never
  /// set (`cshutdn_perform` in lib/cshutdn.c of 8.14). Nothing more is read there, so the end of the input ends the wait.
  func end(_ handle: UnsafeMutableRawPointer, of descriptor: Int32) {
    count -= 1
    unsafe curl_multi_remove_handle(multi, handle)
    if sockets.contains(descriptor) { shutdown(descriptor, Int32(SHUT_RD)) }
  }

  func ready(_ event: Poller.Event) {
    let mask = (event.isReadable ? CURL_CSELECT_IN : 0) | (event.isWritable ? CURL_CSELECT_OUT : 0)
    act(event.descriptor, mask)
  }

  /// Handles the expiry of the timer that libcurl has set.
  func timerExpired() {
    act(curl_socket_t(CURL_SOCKET_TIMEOUT), 0)
  }

  private func act(_ descriptor: Int32, _ mask: Int32) {
    var running: Int32 = 0
    TLSReadBudget.granted { unsafe curl_multi_socket_action(multi, descriptor, mask, &running) }
    // Handles may be removed only here, outside of libcurl's callbacks, and only when all messages are read: for each
    // removal libcurl searches all unread messages.
    var finished: [Finished] = []
    var left: Int32 = 0
    while let message = unsafe curl_multi_info_read(multi, &left) {
      guard unsafe message.pointee.msg == CURLMSG_DONE, let handle = unsafe message.pointee.easy_handle,
        let transfer = unsafe HTTPTransfer.of(ccurl_get_private(handle)), let exchange = transfer.exchange
      else { continue }
      unsafe finished.append(Finished(exchange: exchange, result: ccurl_result(message)))
    }
    for ended in finished { ended.exchange.finished(ended.result) }
  }

  /// Watches a socket for libcurl.
  fileprivate func watch(_ descriptor: Int32, _ what: Int32) {
    var events: Poller.Events = []
    if what & CURL_POLL_IN != 0 { events.insert(.readable) }
    if what & CURL_POLL_OUT != 0 { events.insert(.writable) }
    let isOver = what == CURL_POLL_REMOVE || events.isEmpty
    loop.descriptors.register(descriptor, isOver ? nil : self)
    guard !isOver else { return loop.descriptors.remove(descriptor) }
    sockets.insert(descriptor)
    // If the kernel has no memory for it, libcurl's own timeout ends the transfer.
    loop.descriptors.set(descriptor, events)
  }

  fileprivate func setTimer(_ milliseconds: Int) {
    loop.setTimer(self, at: milliseconds < 0 ? nil : .now.advanced(by: .milliseconds(milliseconds)))
  }

  /// Called by libcurl: a connection is closed.
  func close(_ descriptor: Int32) {
    sockets.remove(descriptor)
    loop.descriptors.close(descriptor)
  }
}

private func curlSocketCallback(
  _ handle: UnsafeMutableRawPointer?, _ descriptor: curl_socket_t, _ what: Int32, _ context: UnsafeMutableRawPointer?,
  _ unused: UnsafeMutableRawPointer?
) -> Int32 {
  guard let context = unsafe context else { return 0 }
  unsafe Unmanaged<CurlGroup>.fromOpaque(context).takeUnretainedValue().watch(descriptor, what)
  return 0
}

private func curlTimerCallback(
  _ multi: UnsafeMutableRawPointer?, _ milliseconds: Int, _ context: UnsafeMutableRawPointer?
) -> Int32 {
  guard let context = unsafe context else { return 0 }
  unsafe Unmanaged<CurlGroup>.fromOpaque(context).takeUnretainedValue().setTimer(milliseconds)
  return 0
}
