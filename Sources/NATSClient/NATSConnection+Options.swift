internal import CNATS
internal import Glibc

extension NATSConnection {
  /// Makes the library's options; the caller destroys them.
  static func makeOptions(_ configuration: NATSConfiguration, observer: UInt) throws(NATSError) -> OpaquePointer {
    // The handlers of all connections without threads of their own run on one.
    let opened = nats_Open(-1)
    guard opened == NATS_OK else { throw NATSError.last("connect", opened) }
    _ = nats_SetMessageDeliveryPoolSize(1)
    var created: OpaquePointer?
    let status = unsafe natsOptions_Create(&created)
    guard status == NATS_OK, let options = unsafe created else { throw NATSError.last("connect", status) }
    let closure = unsafe CNATS_closure(observer)
    let steps: [() -> natsStatus] = [
      { unsafe setServers(configuration.servers, options) },
      { unsafe natsOptions_SetName(options, configuration.name) },
      { unsafe natsOptions_SetCustomInboxPrefix(options, configuration.inboxPrefix) },
      { unsafe natsOptions_UseGlobalMessageDelivery(options, !configuration.hasThreads) },
      { unsafe natsOptions_SetTimeout(options, Limits.connectTimeout) },
      { unsafe natsOptions_SetMaxReconnect(options, -1) },
      { unsafe natsOptions_SetReconnectWait(options, Limits.reconnectWait) },
      { unsafe natsOptions_SetReconnectJitter(options, Limits.reconnectJitter, Limits.reconnectJitter) },
      { unsafe natsOptions_SetReconnectBufSize(options, Limits.reconnectBuffer) },
      { unsafe natsOptions_SetFailRequestsOnDisconnect(options, true) },
      { unsafe natsOptions_SetPingInterval(options, Limits.pingInterval) },
      { unsafe natsOptions_SetMaxPingsOut(options, Limits.pingsOut) },
      { unsafe natsOptions_SetWriteDeadline(options, Limits.writeDeadline) },
      // A message is written by the thread that sends it, not by one that collects messages.
      { unsafe natsOptions_SetSendAsap(options, true) },
      { unsafe natsOptions_SetMaxPendingMsgs(options, Limits.pendingMessages) },
      { unsafe natsOptions_SetRetryOnFailedConnect(options, true, natsConnected, closure) },
      { unsafe natsOptions_SetReconnectedCB(options, natsConnected, closure) },
      { unsafe natsOptions_SetDisconnectedCB(options, natsDisconnected, closure) },
      { unsafe natsOptions_SetClosedCB(options, natsClosed, closure) },
      { unsafe natsOptions_SetErrorHandler(options, natsRefused, closure) },
      { unsafe setSecurity(configuration, options) },
    ]
    for step in steps {
      let status = step()
      guard status == NATS_OK else {
        let error = NATSError.last("connect", status)
        unsafe natsOptions_Destroy(options)
        throw error
      }
    }
    return unsafe options
  }

  private static func setServers(_ servers: [String], _ options: OpaquePointer) -> natsStatus {
    let texts = unsafe servers.map { unsafe strdup($0) }
    defer { unsafe texts.forEach { unsafe free($0) } }
    var pointers = unsafe texts.map { unsafe UnsafePointer<CChar>($0) }
    return unsafe natsOptions_SetServers(options, &pointers, Int32(servers.count))
  }

  private static func setSecurity(_ configuration: NATSConfiguration, _ options: OpaquePointer) -> natsStatus {
    if configuration.requiresTLS {
      let status = unsafe natsOptions_SetSecure(options, true)
      guard status == NATS_OK else { return status }
    }
    if let file = configuration.authorityFile {
      let status = unsafe natsOptions_LoadCATrustedCertificates(options, file)
      guard status == NATS_OK else { return status }
    }
    switch configuration.credentials {
    case .token(let file): return unsafe natsOptions_SetUserCredentialsFromFiles(options, file, nil)
    case .key(let key, let file): return unsafe natsOptions_SetNKeyFromSeed(options, key, file)
    case nil: return NATS_OK
    }
  }
}

// The functions that the library calls on its threads.

private func notify(_ closure: UnsafeMutableRawPointer?, _ event: NATSConnection.Event) {
  connectionCallbacks[UInt(bitPattern: closure)]?(event)
}

private func lastError(_ connection: OpaquePointer?) -> String {
  var text: UnsafePointer<CChar>?
  _ = unsafe natsConnection_GetLastError(connection, &text)
  return unsafe text.map { unsafe String(cString: $0) } ?? ""
}

private func natsConnected(_ connection: OpaquePointer?, _ closure: UnsafeMutableRawPointer?) {
  unsafe notify(closure, .connected)
}

private func natsDisconnected(_ connection: OpaquePointer?, _ closure: UnsafeMutableRawPointer?) {
  unsafe notify(closure, .disconnected)
}

private func natsClosed(_ connection: OpaquePointer?, _ closure: UnsafeMutableRawPointer?) {
  unsafe notify(closure, .closed(lastError(connection)))
}

private func natsRefused(
  _ connection: OpaquePointer?, _ subscription: OpaquePointer?, _ status: natsStatus,
  _ closure: UnsafeMutableRawPointer?
) {
  guard status != NATS_SLOW_CONSUMER else { return unsafe notify(closure, .overloaded) }
  let text = unsafe lastError(connection)
  unsafe notify(closure, .refused(text.isEmpty ? String(cString: natsStatus_GetText(status)) : text))
}
