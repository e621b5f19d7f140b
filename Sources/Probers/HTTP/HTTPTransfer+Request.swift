internal import CCurl
internal import Glibc
internal import ReachabilityModel

// The options of the request.
extension HTTPTransfer {
  /// Sets the options that most requests do not have.
  ///
  /// - Parameters:
  ///   - request: its method and body.
  ///   - sent: its header fields.
  ///   - login: the user of Basic authentication (RFC 7617); a field `Authorization` takes precedence in libcurl.
  ///   - isHTTP1: whether HTTP/2 is not offered.
  /// - Returns: false if libcurl rejects one.
  func setOwnOptions(
    _ request: HTTPProbeRequest, _ sent: [HTTPOptions.Field], _ login: CurlTarget.Login?, isHTTP1: Bool
  ) -> Bool {
    var codes: [CURLcode] = []
    if let login {
      codes.append(unsafe ccurl_set_string(handle, CURLOPT_USERNAME, login.user))
      codes.append(unsafe ccurl_set_string(handle, CURLOPT_PASSWORD, login.password))
    }
    if isHTTP1 { codes.append(unsafe ccurl_set_long(handle, CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))) }
    if request.method == "HEAD" {
      codes.append(unsafe ccurl_set_long(handle, CURLOPT_NOBODY, 1))
    } else {
      if let body = request.content {
        codes.append(unsafe ccurl_set_long(handle, CURLOPT_POSTFIELDSIZE, body.utf8.count))
        codes.append(unsafe ccurl_set_string(handle, CURLOPT_COPYPOSTFIELDS, body))
      }
      if request.method != "GET" || request.body != nil {
        codes.append(unsafe ccurl_set_string(handle, CURLOPT_CUSTOMREQUEST, request.method))
      }
    }
    // The body is decoded if the caller asks for an encoding.
    if let encodings = sent.first(where: { $0.name.lowercased() == "accept-encoding" })?.value, !encodings.isEmpty {
      codes.append(unsafe ccurl_set_string(handle, CURLOPT_ACCEPT_ENCODING, encodings))
    }
    hasOwnOptions = !codes.isEmpty
    return codes.allSatisfy { $0 == CURLE_OK }
  }

  static func lines(
    _ request: HTTPProbeRequest, _ sent: [HTTPOptions.Field], _ curlTarget: CurlTarget
  ) -> [String] {
    // With a body, do not wait for 100 Continue, and send no media type except the caller's.
    var lines = request.content == nil ? [] : ["Expect:", "Content-Type:"]
    lines.removeAll { line in sent.contains { $0.name.lowercased() + ":" == line.lowercased() } }
    // "Name;" makes curl send a header without a value; "Name:" would remove it.
    lines += sent.map { $0.value.isEmpty ? "\($0.name);" : "\($0.name): \($0.value)" }
    if let host = curlTarget.host, !sent.contains(where: { $0.name.lowercased() == "host" }) {
      lines.append("Host: \(host)")
    }
    return lines
  }
}
