internal import CCurl
internal import ReachabilityModel

extension HTTPExchange {
  /// What an error of libcurl means for the target.
  ///
  /// - Parameters:
  ///   - code: the error.
  ///   - words: libcurl's description of it.
  /// - Returns: the result of the check.
  func finding(_ code: CURLcode, _ words: String) -> ProberResult {
    if let headError = answer.headError { return ProberResult(.down, .noReply, detail: headError) }
    if let refusal = TLSRefusal(message: words) { return ProberResult(.down, .tlsHandshake, detail: refusal.message) }
    // The loop ends a check at its deadline, so libcurl was waiting itself.
    if code == CURLE_OPERATION_TIMEDOUT { return overdue() }
    // libcurl has no codes of their own for these errors, or tries to connect after them.
    let (isAlert, isHTTP2) = (words.contains("alert"), words.contains("HTTP/2"))
    let isMalformed = isHTTP2 || words.contains("chunk") || TLSRecordError.isNamed(in: words)
    let message =
      switch code {
      case CURLE_SSL_CONNECT_ERROR where !words.isEmpty: words
      case _ where isAlert || isMalformed: words
      // libcurl's texts for these codes would seem to describe errors of this program.
      case CURLE_OUT_OF_MEMORY: "the answer's head has a line that is too long"
      case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY: "the answer is not HTTP"
      default: unsafe String(cString: curl_easy_strerror(code))
      }
    let reason: Reason =
      switch code {
      case _ where isAlert: .tlsHandshake
      case _ where isMalformed: .noReply
      case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CIPHER, CURLE_PEER_FAILED_VERIFICATION: .tlsHandshake
      case CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE, CURLE_RECV_ERROR, CURLE_SEND_ERROR: .reset
      default: .noReply
      }
    return ProberResult(.down, reason, detail: message)
  }
}
