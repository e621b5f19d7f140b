internal import CMicroHTTPD
internal import Glibc

/// A whole response as bytes, for the states in which libmicrohttpd accepts none.
enum MHDRawResponse {
  /// Encodes the response to a request after which the connection closes; the body of a stream is omitted.
  ///
  /// - Parameters:
  ///   - response: the response.
  ///   - toHead: whether the request was HEAD: then only the length of the body is sent.
  /// - Returns: the bytes to send.
  static func bytes(of response: HTTPResponse, toHead: Bool = false) -> [UInt8] {
    // RFC 9110, section 8.6: these responses have no length, or the length of another response.
    if [204, 304].contains(response.status) { return Array("\(head(of: response))\r\n".utf8) }
    let body: [UInt8] =
      switch response.body {
      case .bytes(let bytes): bytes
      case .shared(let shared): shared.bytes
      case .none, .stream: []
      }
    return Array("\(head(of: response))Content-Length: \(body.count)\r\n\r\n".utf8) + (toHead ? [] : body)
  }

  /// The status line and the fields; fields that contain a line break are omitted.
  static func head(of response: HTTPResponse) -> String {
    var head = "HTTP/1.1 \(response.status) \(reason(response.status))\r\nDate: \(date())\r\nConnection: close\r\n"
    for (name, value) in response.headers where !framing.contains(where: name.equalsIgnoringCase) {
      guard !(name + value).utf8.contains(where: { $0 == 0x0d || $0 == 0x0a }) else { continue }
      head += "\(name): \(value)\r\n"
    }
    return head
  }

  /// The fields that the server generates.
  private static let framing = ["Connection", "Content-Length", "Transfer-Encoding", "Date"]

  private static func reason(_ status: Int) -> String {
    unsafe MHD_get_reason_phrase_for(UInt32(clamping: status)).map { unsafe String(cString: $0) } ?? "Unknown"
  }

  /// The current time in the format of RFC 9110, section 5.6.7.
  private static func date() -> String {
    var seconds = time(nil)
    var parts = unsafe tm()
    unsafe gmtime_r(&seconds, &parts)
    // 29 characters. This program never leaves the C locale, which has the English names.
    return unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { text in
      guard let start = text.baseAddress else { return "" }
      let count = unsafe strftime(start, text.count, "%a, %d %b %Y %H:%M:%S GMT", &parts)
      return unsafe String(decoding: UnsafeRawBufferPointer(start: start, count: count), as: UTF8.self)
    }
  }
}
