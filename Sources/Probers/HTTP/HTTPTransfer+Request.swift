internal import CCurl
internal import Glibc
internal import ReachabilityModel

// The options of the request.
extension HTTPTransfer {
  /// Sets the user of Basic authentication (RFC 7617) and the versions of HTTP that are offered; false if libcurl rejects one.
  ///
  /// A field `Authorization` of the caller takes precedence in libcurl.
  func set(_ login: CurlTarget.Login?, isHTTP1: Bool) -> Bool {
    var codes: [CURLcode] = []
    if let login {
      codes.append(unsafe ccurl_set_string(handle, CURLOPT_USERNAME, login.user))
      codes.append(unsafe ccurl_set_string(handle, CURLOPT_PASSWORD, login.password))
    }
    if isHTTP1 { codes.append(unsafe ccurl_set_long(handle, CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))) }
    return codes.allSatisfy { $0 == CURLE_OK }
  }

  /// Sets the method, the header fields and the body.
  func set(
    _ request: HTTPProbeRequest, _ sent: [HTTPOptions.Field], _ curlTarget: CurlTarget
  ) -> [CURLcode] {
    var codes: [CURLcode] = []
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
    // Do not wait for 100 Continue, and send no media type except the caller's.
    var fields = ["Expect:", "Content-Type:"]
    fields.removeAll { field in sent.contains { $0.name.lowercased() + ":" == field.lowercased() } }
    // "Name;" makes curl send a header without a value; "Name:" would remove it.
    fields += sent.map { $0.value.isEmpty ? "\($0.name);" : "\($0.name): \($0.value)" }
    // The body is decoded if the caller asks for an encoding.
    if let encodings = sent.first(where: { $0.name.lowercased() == "accept-encoding" })?.value, !encodings.isEmpty {
      codes.append(unsafe ccurl_set_string(handle, CURLOPT_ACCEPT_ENCODING, encodings))
    }
    if let host = curlTarget.host, !sent.contains(where: { $0.name.lowercased() == "host" }) {
      fields.append("Host: \(host)")
    }
    codes.append(unsafe ccurl_set_list(handle, CURLOPT_HTTPHEADER, list(fields)))
    return codes
  }
}
