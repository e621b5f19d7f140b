internal import HTTPRouting
internal import HostProcess
internal import JetStream
internal import Locks
internal import Logging
internal import NATSClient
internal import ReachabilityFleet
internal import Service
internal import StatusAPI
internal import FleetAPI

/// The part of the service that makes it a replica: it reads the stream, and serves the state of the fleet.
final class FleetReplicaProcess: ServicePart {
  /// The size from which the stream loses its oldest messages: three times what 100 agents with 1,000 targets write a day.
  private static let streamBytes: Int64 = 1 << 30
  /// With so many servers the stream is stored by three of them.
  private static let clusterSize = 3

  private let engine: JetStreamEngine
  /// Requests and heartbeats of agents, over a connection of their own.
  private let members: JetStreamEngine
  private let fleet: FleetService
  let router: Router?

  init(_ context: ServicePartContext, _ webhooks: FleetWebhooks) {
    let settings = context.configuration.fleet
    let logger = context.logger
    let engine = JetStreamEngine(
      NATSMessenger(FleetSettings.connection(settings, role: "replica"), logger) {
        FleetEngineVersions.problem($0, isPermitted: settings.permitsUnsafeServers)
      })
    self.engine = engine
    members = JetStreamEngine(NATSMessenger(FleetSettings.connection(settings, role: "replica", "agents"), logger))
    let stream = JetStreamConfiguration(
      name: FleetSubject.stream, subjects: FleetSubject.stored,
      replicas: settings.servers.count >= Self.clusterSize ? Self.clusterSize : 1,
      maximumAge: FleetLimits.streamAge, maximumBytes: Self.streamBytes,
      messagesPerSubject: FleetLimits.messagesPerSubject)
    let hello = NodeHello(role: .replica, zone: settings.zone, labels: settings.labels, version: ServiceVersion.current)
    let failures = Locked<String?>(nil)
    fleet = FleetService(id: settings.id ?? "", hello: hello, engine: engine, members: members, logger: logger) {
      completion in
      engine.createStream(stream) { result in
        switch result {
        case .success:
          failures.withLock { $0 = nil }
          logger.notice("created the stream", metadata: ["copies": "\(stream.replicas)"])
        case .failure(let error):
          let text = Self.description(error)
          // It is tried again every few seconds.
          let isNew = failures.withLock { last in
            defer { last = text }
            return last != text
          }
          if isNew { logger.error("the stream cannot be created", metadata: ["error": "\(text)"]) }
        }
        completion()
      }
    }
    router = context.service.makeRouter(serving: fleet)
    webhooks.attach(fleet, context.service.webhooks)
  }

  /// The engine's reason, and what to change.
  private static func description(_ error: FleetEngineError) -> String {
    guard error == .full else { return "\(error)" }
    return "the servers have less room than the \(streamBytes >> 20) MiB of the stream: "
      + "jetstream.max_file_store in nats-server's configuration must be larger"
  }

  func start() {
    fleet.start()
    engine.start()
    members.start()
  }

  func stop() {
    fleet.stop()
    engine.stop()
    members.stop()
  }
}
