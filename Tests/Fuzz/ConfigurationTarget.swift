import CNetlink
import Events
import Glibc
import JSONFormat
import ReachabilityModel

@testable import Service
@testable import StatusAPI

/// A configuration file: it is taken, or every complaint has its place.
enum ConfigurationTarget {
  static func play(_ bytes: [UInt8]) {
    let file = memfd_create("configuration", 1)
    precondition(file >= 0, "no memory for a file")
    defer { close(file) }
    precondition(bytes.withUnsafeBytes { write(file, $0.baseAddress, $0.count) } == bytes.count)
    do throws(ConfigurationErrors) {
      let sources = ConfigurationSources(file: "/proc/self/fd/\(file)", environment: ["NAME": "value", "EMPTY": ""])
      let configuration = try sources.load()
      precondition(!configuration.listen.isEmpty, "a service listens somewhere")
      precondition(configuration.grace >= Duration.zero, "settings keep their ranges")
      for gate in configuration.gates { check(gate) }
    } catch {
      precondition(!error.errors.isEmpty, "a complaint says something")
      for diagnostic in error.errors { precondition(!diagnostic.location.isEmpty && !diagnostic.problem.isEmpty) }
    }
  }

  /// A gate that is taken can be sent back as its document.
  private static func check(_ gate: GateDefinition) {
    let document = JSON.object(GateDocument.definition(gate))
    do throws(TargetDecoder.InvalidFields) {
      let decoded = try GateDecoder.definition(document, id: gate.id)
      precondition(decoded == gate, "\(gate)")
    } catch {
      preconditionFailure("\(gate): \(error)")
    }
  }
}
