import EmbeddedHTTPServer
import Testing

@testable import StatusAPI

@Suite struct MediaTypeTests {
  @Test(arguments: [
    (nil, "application/json"), ("*/*", "application/json"), ("text/plain", "text/plain; charset=utf-8"),
    ("TEXT/Plain", "text/plain; charset=utf-8"), ("text/*", "text/plain; charset=utf-8"),
    ("application/*", "application/json"), ("text/plain, application/json", "application/json"),
    ("text/plain, application/json;q=0.9", "text/plain; charset=utf-8"),
    ("text/plain;q=0.5,application/json;q=0.6", "application/json"),
    ("*/*;q=0.1, text/plain;q=0.2", "text/plain; charset=utf-8"),
    ("application/json;q=0, */*", "text/plain; charset=utf-8"),
    ("text/*;q=0.3, text/plain;q=0.1, application/json;q=0.2", "application/json"),
    ("text/html,application/xhtml+xml,*/*;q=0.8", "application/json"),
    ("text/plain ; q=0.5 ; x=y , application/json ; q=0.4", "text/plain; charset=utf-8"),
    ("text/plain; charset=utf-8", "text/plain; charset=utf-8"), ("", "application/json"),
    ("application/json;q=2, text/plain;q=0.9", "application/json"), (",,,", "application/json"),
    (" , \t,", "application/json"), (", text/plain,,", "text/plain; charset=utf-8"),
    (#"application/json;a="b,c";q=0.1, text/plain;q=0.5"#, "text/plain; charset=utf-8"),
    (#"text/plain;x=";q=0""#, "text/plain; charset=utf-8"),
    (#"application/json;a="\",text/plain", text/plain;q=0.5"#, "application/json"),
    ("application/json;q=0.9999, text/plain;q=1.", "text/plain; charset=utf-8"),
    ("text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2", "application/json"),
    ("application/json;q=inf, text/plain;q=0.001", "text/plain; charset=utf-8"),
  ])
  func bestMediaTypeIsSelected(accept: String?, expected: String) throws {
    let service = try ScriptedService()
    var headers = HTTPHeaders()
    headers["Accept"] = accept
    let response = try service.ask("/status", headers)
    #expect(response.status == 200)
    #expect(response.headers["Content-Type"] == expected)
  }

  @Test(arguments: [
    "image/png", "application/json;q=0", "*/*;q=0", "text/plain;q=0, application/json;q=0.0", "text", "json",
    "*/json", "application/json;q=nonsense", "application/json;q=inf", "application/json;q=0x1p-1",
    "application/json;q=.", "application/json;q=1e0", "application/json;q=", "application/json;q=-0", "text/html",
    ", image/png ,", ";q=1",
  ])
  func unacceptableAcceptAnswers406WithTheList(accept: String) throws {
    let response = try ScriptedService().ask("/status", ["Accept": accept])
    #expect(response.status == 406)
    #expect(response.headers["Content-Type"] == "application/problem+json")
    let problem = try response.object()
    #expect(problem["code"] as? String == "notAcceptable")
    #expect((problem["detail"] as? String)?.contains("application/json, text/plain") == true)
  }

  @Test(arguments: [
    ("/events", "text/event-stream"), ("/livez", "text/plain; charset=utf-8"), ("/openapi.yaml", "application/yaml"),
    ("/", "application/json"), ("/hosts/default", "application/json"), ("/interfaces", "application/json"),
  ])
  func resourceHasADefaultMediaType(target: String, type: String) throws {
    #expect(try ScriptedService().ask(target).headers["Content-Type"] == type)
  }

  @Test func acceptSelectsStreamOrArray() throws {
    let service = try ScriptedService()
    #expect(try service.ask("/events", ["Accept": "text/event-stream"]).text.hasPrefix("retry: 3000\nid: "))
    #expect(try service.ask("/events", ["Accept": "application/json"]).array().count == 1)
  }
}
