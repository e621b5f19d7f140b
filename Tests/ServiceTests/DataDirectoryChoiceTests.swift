import History
import HostProcess
import Logging
import TestSupport
import Testing

@testable import Service

@Suite("Choice of the data directory")
struct DataDirectoryChoiceTests {
  private let directory: TemporaryDirectory
  private let runtime: TemporaryDirectory

  init() throws { (directory, runtime) = (try TemporaryDirectory(), try TemporaryDirectory()) }

  private func choose(_ setting: String?, _ environment: [String: String]) throws -> DataDirectoryChoice {
    let configuration = try ConfigurationTests.load(setting.map { "data: \(directory.path)/\($0)" })
    let variables = environment.mapValues { names in
      names.split(separator: ":").map { "\(directory.path)/\($0)" }.joined(separator: ":")
    }
    return try DataDirectoryChoice(
      configuration, variables.merging(["RUNTIME_DIRECTORY": runtime.path]) { $1 }, LogSettings(.critical, .text),
      LogWriter { _ in true }, ServiceManager(environment: [:]))
  }

  @Test(
    "The setting overrides systemd's directory, which overrides the image's",
    arguments: [
      ("setting", ["STATE_DIRECTORY": "state", "REACHD_DEFAULT_DATA": "image"], "setting"),
      (nil, ["STATE_DIRECTORY": "state:other", "REACHD_DEFAULT_DATA": "image"], "state"),
      (nil, ["REACHD_DEFAULT_DATA": "image"], "image"), (nil, ["STATE_DIRECTORY": ""], nil), (nil, [:], nil),
    ] as [(String?, [String: String], String?)])
  func order(setting: String?, environment: [String: String], expected: String?) throws {
    let choice = try choose(setting, environment)
    defer { choice.end() }
    #expect(choice.store?.configuration.directory == expected.map { "\(directory.path)/\($0)" })
    #expect(choice.refusal == nil)
  }

  @Test("A directory of the image that cannot be used leaves the service without a store")
  func image() throws {
    _ = try directory.write("a file", as: "image")
    let choice = try choose(nil, ["REACHD_DEFAULT_DATA": "image"])
    #expect(choice.store == nil && choice.refusal != nil)
    choice.end()
  }

  @Test("A chosen directory that cannot be used is an error", arguments: ["data", "STATE_DIRECTORY"])
  func chosen(by source: String) throws {
    _ = try directory.write("a file", as: "data")
    #expect(throws: StoreError.self) {
      try choose(source == "data" ? "data" : nil, source == "data" ? [:] : [source: "data"])
    }
  }
}
