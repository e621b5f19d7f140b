internal import CCurl
internal import ReachabilityModel

extension HTTPExchange {
  /// Records the known parts of an answer, complete or not.
  func note(_ transfer: HTTPTransfer) {
    if answer.hasHead {
      let status = transfer.status
      check.evidence.http = CheckResult.HTTP(
        status: status, version: transfer.version, redirects: redirects.count, bodyBytes: answer.bodyBytes,
        contentLength: transfer.contentLength, isRedirect: location(status) != nil,
        retryAfter: answer.retryAfter)
    }
    let ready = transfer.moment(CURLINFO_APPCONNECT_TIME_T)
    if let ready { check.add(.tls, ready) }
    guard let first = transfer.moment(CURLINFO_STARTTRANSFER_TIME_T) else { return }
    check.add(.processing, max(.zero, first - (ready ?? .zero)))
    if let last = transfer.moment(CURLINFO_TOTAL_TIME_T) { check.add(.transfer, max(.zero, last - first)) }
  }
}
