import ReachabilityModel
import Testing

@testable import Webhooks

@Suite("Delivery rules")
struct WebhookDeliveryRulesTests {
  @Test(
    "A status decides what follows",
    arguments: [
      (200, WebhookDeliveryVerdict.delivered), (202, .delivered), (204, .delivered), (299, .delivered),
      (301, .rejected), (308, .rejected), (304, .rejected), (400, .rejected), (401, .denied), (403, .denied),
      (404, .denied), (405, .rejected),
      (413, .rejected), (408, .retry(after: nil)), (425, .retry(after: nil)), (429, .retry(after: nil)),
      (500, .retry(after: nil)), (503, .retry(after: nil)), (599, .retry(after: nil)), (410, .gone), (600, .rejected),
    ])
  func status(status: Int, verdict: WebhookDeliveryVerdict) {
    #expect(WebhookDeliveryRules.verdict(.answered(status: status, retryAfter: nil)) == verdict)
  }

  @Test("Retry-After is obeyed up to an hour")
  func retryAfter() {
    let verdict = { WebhookDeliveryRules.verdict(.answered(status: 429, retryAfter: $0)) }
    #expect(verdict(.seconds(90)) == .retry(after: .seconds(90)))
    #expect(verdict(.seconds(86_400)) == .retry(after: .seconds(3_600)))
    #expect(verdict(.seconds(-1)) == .retry(after: .zero))
  }

  @Test(
    "Retry-After is a number of seconds or a date",
    arguments: [
      ("120", 120), ("0", 0), ("99999999999999999999", 3_600), ("Thu, 01 Jan 1970 00:16:40 GMT", 990),
      ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Thursday, 01-Jan-70 00:16:40 GMT", 990),
      ("Thu Jan  1 00:16:40 1970", 990), ("Sat Jan 10 00:00:00 1970", 777_590),
      ("Sunday, 02-Jan-00 00:00:00 GMT", 946_771_190),
      ("Friday, 01-Jan-99 00:00:00 GMT", 915_148_790),
    ])
  func retryAfterForms(text: String, seconds: Int) {
    #expect(WebhookDeliveryRules.retryAfter(text, now: Timestamp(microseconds: 10_000_000)) == .seconds(seconds))
  }

  @Test(
    "Other forms of Retry-After are ignored",
    arguments: [
      "", "-1", "1.5", "soon", "Thu, 32 Jan 1970 00:16:40 GMT", "+3", "Thu, 1 Jan 1970 00:16:40 GMT",
      "Thu, 01 Jan 70 00:16:40 GMT", "Thu, 01 Jan 1970 00:16:40", "Thu, 01 Jan 1970 00:16:40 UTC",
      "Thursday, 01-Jan-1970 00:16:40 GMT", "Thursday, 01-Jan 00:16:40 GMT", "Thu Jan 1 00:16:40 1970",
      "Thu Jan  1 00:16:40 70", "Thu Jan 01 24:16:40 1970", "Thu Foo 01 00:16:40 1970", "Thu Jan 01 00:16:40 1970 GMT",
      "Thu, 01 Jan 1970T00:16:40 GMT",
    ])
  func brokenRetryAfter(text: String) {
    #expect(WebhookDeliveryRules.retryAfter(text, now: Timestamp(microseconds: 0)) == nil)
  }

  @Test("Delays grow from 1 s to 5 min, with a deviation of a fifth")
  func delays() {
    let seconds = [1, 5, 15, 30, 60, 120, 300, 300, 300]
    for (index, expected) in seconds.enumerated() {
      let delay = { WebhookDeliveryRules.delay(afterFailures: index + 1, random: $0) }
      #expect(delay(0.5) == .seconds(expected))
      #expect(abs(delay(0) / .seconds(expected) - 0.8) < 1e-9)
      #expect(abs(delay(1) / .seconds(expected) - 1.2) < 1e-9)
    }
  }
}
