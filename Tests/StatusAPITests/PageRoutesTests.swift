import Foundation
import NetworkReachability
import ReachabilityChecks
import StatusPage
import TestSupport
import Testing

@testable import EmbeddedHTTPServer
@testable import HTTPRouting
@testable import StatusAPI

/// The page at `/`, its files, and content coding.
@Suite struct PageRoutesTests {
  private static let browser: HTTPHeaders = [
    "Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8",
    "Accept-Encoding": "gzip, deflate, br",
  ]

  @Test func browsersGetThePage() throws {
    let page = try ScriptedService().ask("/", ["Accept": "text/html,*/*;q=0.8"])
    #expect(page.status == 200)
    #expect(page.headers["Content-Type"] == "text/html; charset=utf-8")
    #expect(page.text.hasPrefix("<!doctype html>"))
    #expect(page.headers["Vary"]?.contains("Accept") == true)
  }

  @Test(arguments: ["*/*", "application/json", ""])
  func otherClientsGetTheIndex(accept: String) throws {
    let index = try ScriptedService().ask("/", ["Accept": accept])
    #expect(index.headers["Content-Type"] == "application/json")
  }

  @Test func pageIsOpenWhereReadsNeedAToken() throws {
    var configuration = StatusServiceConfiguration()
    configuration.access = AccessPolicy(listeners: [.init(reads: .token)])
    let service = try ScriptedService(.wired, configuration)
    #expect(try service.ask("/status", isLoopbackListener: false).status != 200)
    #expect(try service.ask("/", Self.browser, isLoopbackListener: false).status == 200)
    #expect(try service.ask("/page/\(StatusPage.build)/app.js", isLoopbackListener: false).status == 200)
  }

  @Test func pageCanBeDisabled() throws {
    var configuration = StatusServiceConfiguration()
    configuration.servesPage = false
    let service = try ScriptedService(.wired, configuration)
    #expect(try service.ask("/", Self.browser).headers["Content-Type"] == "application/json")
    #expect(try service.ask("/page/\(StatusPage.build)/app.js").status == 404)
  }

  @Test func policyAppliesToThePageAndItsFiles() throws {
    let service = try ScriptedService()
    for target in ["/", "/page/\(StatusPage.build)/hub.js"] {
      let policy = try #require(try service.ask(target, Self.browser).headers["Content-Security-Policy"])
      for directive in [
        "default-src 'none'", "script-src 'self'", "require-trusted-types-for 'script'", "frame-ancestors 'none'",
      ] {
        #expect(policy.contains(directive))
      }
      #expect(!policy.contains("unsafe"))
    }
    #expect(
      try service.ask("/status").headers["Content-Security-Policy"] == "default-src 'none'; frame-ancestors 'none'")
  }

  @Test func policyNamesTheStyleAndTheScriptOfThePageByTheirDigests() throws {
    let page = try ScriptedService().ask("/", ["Accept": "text/html"])
    let policy = try #require(page.headers["Content-Security-Policy"])
    // A browser compares the digest: scripts/clients.d/page.py.
    #expect(policy.contains(/style-src 'self' 'sha256-[A-Za-z0-9+\/]{43}=';/))
    #expect(policy.contains(/script-src 'self' 'sha256-[A-Za-z0-9+\/]{43}=';/))
  }

  @Test func filesAreCachedForever() throws {
    let file = try ScriptedService().ask("/page/\(StatusPage.build)/app.js", ["Accept": "*/*"])
    #expect(file.headers["Content-Type"] == "text/javascript; charset=utf-8")
    #expect(file.headers["Cache-Control"] == "public, max-age=31536000, immutable")
  }

  @Test(arguments: [
    "/page/000000000000/app.js", "/page/\(StatusPage.build)/nothing.js", "/page/\(StatusPage.build)/index.html",
  ])
  func otherFilesAreNotFound(target: String) throws {
    #expect(try ScriptedService().problem(target) == "notFound")
  }

  @Test func pageIsRevalidatedByItsTag() throws {
    let service = try ScriptedService()
    let plain = try #require(try service.ask("/", ["Accept": "text/html"]).headers["ETag"])
    let compressed = try #require(try service.ask("/", Self.browser).headers["ETag"])
    #expect(plain != compressed)
    var headers = Self.browser
    headers["If-None-Match"] = compressed
    #expect(try service.ask("/", headers).status == 304)
    headers["If-None-Match"] = "\"0\""
    #expect(try service.ask("/", headers).status == 200)
  }

  // MARK: - Content coding

  @Test(arguments: [
    ("gzip", true), ("GZIP", true), ("deflate, gzip;q=0.5", true), ("*", true), ("br;q=1, *;q=0.1", true),
    ("gzip;q=0", false), ("gzip; q=0.000, *", false), ("identity", false), ("br", false), ("", false),
    ("gzip;q=x", false),
  ])
  func gzipIsNegotiated(accept: String, isCompressed: Bool) throws {
    let answer = try ScriptedService().ask("/openapi.yaml", ["Accept-Encoding": accept])
    #expect((answer.headers["Content-Encoding"] == "gzip") == isCompressed)
    #expect(answer.headers["Vary"]?.contains("Accept-Encoding") == true)
    #expect(answer.bytes.starts(with: [0x1f, 0x8b]) == isCompressed)
  }

  @Test(arguments: ["/status", "/targets/db", "/livez"])
  func validatedAndSmallDocumentsAreNotCompressed(target: String) throws {
    let service = try ScriptedService()
    _ = try service.send("PUT", "/targets/db", #"{"target": "tcp://10.0.0.9:1"}"#)
    #expect(try service.ask(target, ["Accept-Encoding": "gzip"]).headers["Content-Encoding"] == nil)
  }

  @Test func compressedTargetsAreSmallerAndKeepTheirHeaders() throws {
    let service = try ScriptedService()
    let list = (0..<50).map { #"{"id": "t\#($0)", "target": "tcp://10.0.0.9:\#($0 + 1)"}"# }
    _ = try service.send("POST", "/targets", "[\(list.joined(separator: ","))]")
    let plain = try service.ask("/targets")
    let compressed = try service.ask("/targets", ["Accept-Encoding": "gzip"])
    #expect(compressed.bytes.count * 3 < plain.bytes.count)
    #expect(compressed.headers["ETag"] == plain.headers["ETag"])
    #expect(compressed.headers["Last-Event-ID"] == plain.headers["Last-Event-ID"])
  }
}
