internal import Glibc

/// The result of one recv(2) on a non-blocking socket.
enum ProberReadBuffer {
  case bytes([UInt8])
  case end
  /// No data is available now.
  case nothing
  case failed(Int32)

  static func read(_ descriptor: Int32) -> ProberReadBuffer {
    var got = 0
    var code: Int32 = 0
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: Limits.readBytes) { buffer, filled in
      repeat {
        got = unsafe recv(descriptor, buffer.baseAddress, buffer.count, 0)
        code = errno
      } while got < 0 && code == EINTR
      filled = max(0, got)
    }
    if got > 0 { return .bytes(bytes) }
    if got == 0 { return .end }
    return code == EAGAIN ? .nothing : .failed(code)
  }
}
