internal import CGnuTLS
internal import CMicroHTTPD

/// libmicrohttpd's daemon in external mode (ADR 2).
///
/// Confined to the server's thread.
@safe final class MHDDaemon {
  private let daemon: OpaquePointer

  /// Starts a daemon that calls the functions of `HTTPCallbacks.swift` for `loop`; nil if libmicrohttpd refuses.
  ///
  /// The loop must outlive the daemon.
  init?(loop: HTTPServerLoop, listener: Int32) {
    let context = loop.context
    var callbacks = unsafe CMicroHTTPD_Callbacks(
      cls: Unmanaged.passUnretained(loop).toOpaque(), request: httpRequest, target: httpTarget,
      completed: httpCompleted, connection: httpConnection, unescape: httpUnescape,
      diagnostic: { unsafe httpLogCallback($0, $1, $2) })
    // In turbo mode 0.9.75 closes the socket of a connection without a shutdown, as the hub needs it. It adds a new
    // socket to its epoll set only after it was found idle: under TLS, the bytes of a handshake would cause no event.
    let mode = context.identity == nil ? MHD_USE_TURBO.rawValue : MHD_USE_TLS.rawValue
    let flags = MHD_USE_EPOLL.rawValue | MHD_ALLOW_SUSPEND_RESUME.rawValue | MHD_USE_ERROR_LOG.rawValue | mode
    // Its limit is above ours: at its own limit it leaves clients in the kernel's queue without a response.
    let daemon = unsafe CMicroHTTPD_start(
      flags, listener, UInt32(clamping: context.connectionLimit + Limits.overload), context.inactivitySeconds,
      Limits.connectionMemory, &callbacks, ServerTLSIdentity.priorities, CGnuTLS_certificate_callback(httpCertificate))
    guard let daemon = unsafe daemon else { return nil }
    unsafe self.daemon = daemon
  }

  /// The daemon's epoll descriptor, which is readable while one of its sockets is ready.
  var epollDescriptor: Int32 { unsafe CMicroHTTPD_epoll_fd(daemon) }

  /// Milliseconds until the daemon needs a turn without an event; nil for no limit.
  var timeoutMilliseconds: UInt64? {
    var timeout: UInt64 = 0
    return unsafe MHD_get_timeout(daemon, &timeout) == .YES ? timeout : nil
  }

  /// Handles everything that is ready.
  func run() { unsafe MHD_run(daemon) }

  /// Stops accepting clients, and adds those that are in the queue of `socket`, which is closed.
  func stopAccepting(_ socket: ListeningSocket) {
    // Quiescing alone leaves the socket open, with clients in its queue that get no response.
    unsafe MHD_quiesce_daemon(daemon)
    // The kernel drops the SYN of a new client, which sends it again and is refused after the close. A Unix-domain
    // socket has no SYN, so its file is removed. A socket that another process bound stays open there.
    if socket.isOwn {
      CMicroHTTPD_drop_syn(socket.descriptor)
      socket.file?.remove()
    }
    // A client in the queue is connected and may have sent a request: a close would reset it.
    var last: [Int32] = []
    while last.count < Limits.lastAccepts, case let client = CMicroHTTPD_accept(socket.descriptor), client >= 0 {
      last.append(client)
    }
    socket.closeAndUnlink()
    for client in last { _ = unsafe CMicroHTTPD_adopt(daemon, client) }
  }

  /// Stops the daemon, which must have no suspended connection; nothing else may be called after it.
  func stop() { unsafe MHD_stop_daemon(daemon) }
}
