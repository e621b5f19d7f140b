internal import JSONFormat
public import NATSClient

/// Streams, by requests to the JetStream API (ADR-13 of NATS).
extension NATSConnection {
  // MARK: - Streams

  /// Creates a stream, or finds one with the same settings.
  ///
  /// - Returns: its status.
  /// - Throws: `otherConfiguration` when a stream of this name has other settings.
  @discardableResult
  public func createStream(_ wanted: JetStreamConfiguration, within timeLimit: Duration) throws(NATSError)
    -> JetStreamStatus
  {
    let operation = "create stream \(wanted.name)"
    let found = try api("STREAM.CREATE.\(wanted.name)", wanted.document, operation, within: timeLimit)
    return try JetStreamStatus(found, operation)
  }

  /// Reads the status of a stream.
  ///
  /// - Throws: `notFound` when there is none.
  public func stream(_ name: String, within timeLimit: Duration) throws(NATSError) -> JetStreamStatus {
    let operation = "status of stream \(name)"
    return try JetStreamStatus(try api("STREAM.INFO.\(name)", nil, operation, within: timeLimit), operation)
  }

  /// Deletes a stream with its messages.
  ///
  /// - Throws: `notFound` when there is none.
  public func deleteStream(_ name: String, within timeLimit: Duration) throws(NATSError) {
    _ = try api("STREAM.DELETE.\(name)", nil, "delete stream \(name)", within: timeLimit)
  }

  /// Sends a request to the API, and reads its response.
  func api(
    _ subject: String, _ body: JSON?, _ operation: String, within timeLimit: Duration
  ) throws(NATSError) -> JSON {
    let reply = try request("$JS.API.\(subject)", body?.bytes ?? [], within: timeLimit)
    guard let json = try? JSON.parse(reply.payload) else {
      throw NATSError(operation, .refused(code: reply.status ?? 0), "the response is no JSON")
    }
    if let error = json["error"] { throw NATSError(operation, api: error) }
    return json
  }

  // MARK: - Messages of streams

  /// Publishes a message and waits until the stream has stored it; ``JetStreamPublisher`` does not wait.
  ///
  /// - Parameters:
  ///   - subject: the subject.
  ///   - payload: the payload.
  ///   - expected: what the last message of the subject must be; nil for any. It is checked before the message is
  ///     replicated: a refusal is certain, an acceptance is decided by the order of the stream.
  ///   - timeLimit: how long to wait for the acknowledgement.
  /// - Returns: the number in the stream.
  /// - Throws: `wrongLastSequence`, `publishInProgress`, `timedOut` (it may be stored), or another error.
  public func publish(
    _ subject: String, _ payload: [UInt8], expecting expected: JetStreamLastMessageExpectation?,
    within timeLimit: Duration
  ) throws(NATSError) -> UInt64 {
    let operation = "publish \(subject)"
    try JetStreamPublisher.checkSize(payload, operation)
    let reply = try request(
      subject, payload, within: timeLimit, sending: expected.map { [JetStreamPublisher.header: $0.headerValue] } ?? [:])
    return try JetStreamPublisher.sequence(reply, operation)
  }

  /// Reads the last message of a subject from any server that stores the stream, so it may be an older one.
  ///
  /// - Returns: the message; nil when the stream has none.
  /// - Throws: `noResponders` when there is no stream, or another error.
  public func lastMessage(of subject: String, in stream: String, within timeLimit: Duration) throws(NATSError)
    -> JetStreamMessage?
  {
    let target = "\(stream).\(subject)"
    let reply = try request(
      "$JS.API.DIRECT.GET.\(target)", within: timeLimit,
      headers: ["Nats-Subject", "Nats-Sequence", "Nats-Time-Stamp"])
    if reply.status == 404 { return nil }
    // The values of the response come after those that the message itself may have.
    guard let sequence = reply.headers["Nats-Sequence"]?.last.flatMap({ UInt64($0) }), sequence <= Limits.sequence,
      let subject = reply.headers["Nats-Subject"]?.last
    else {
      throw NATSError("read \(target)", .refused(code: reply.status ?? 0), "the response has no sequence number")
    }
    return JetStreamMessage(
      subject: subject, sequence: sequence,
      time: reply.headers["Nats-Time-Stamp"]?.last.flatMap { NATSTime.nanoseconds($0) } ?? 0, payload: reply.payload)
  }
}

extension NATSError {
  init(_ operation: String, api error: JSON) {
    var code = 0
    if case .integer(let number) = error["err_code"] { code = Int(clamping: number) }
    let kind: Kind =
      switch code {
      case 10_071: .wrongLastSequence
      case 10_164: .publishInProgress
      case 10_014, 10_037, 10_059: .notFound
      case 10_013, 10_058, 10_105, 10_148: .otherConfiguration
      // No leader, no meta leader, the cluster is not available, JetStream is not enabled now.
      case 10_008, 10_009, 10_074, 10_076: .noResponders
      default: .refused(code: code)
      }
    self.init(operation, kind, error["description"]?.string ?? "error \(code)")
  }
}

extension JetStreamConfiguration {
  /// The body of the request that creates the stream.
  fileprivate var document: JSON {
    .members([
      "name": .string(name), "subjects": .array(subjects.map { .string($0) }), "retention": "limits",
      "storage": "file", "discard": "old", "max_consumers": .integer(-1), "max_msgs": .integer(-1),
      "num_replicas": .integer(Int64(replicas)), "max_age": .integer(Int64(maximumAge / .nanoseconds(1))),
      "max_bytes": .integer(maximumBytes), "max_msgs_per_subject": .integer(Int64(messagesPerSubject)),
      "max_msg_size": .integer(Int64(Limits.payload + Limits.headerBytes)),
      "deny_delete": true, "deny_purge": true, "allow_direct": true,
    ])
  }
}

extension JetStreamStatus {
  fileprivate init(_ info: JSON, _ operation: String) throws(NATSError) {
    func number(_ json: JSON?) -> UInt64? {
      guard case .integer(let number) = json else { return nil }
      return UInt64(exactly: number)
    }
    guard let created = info["created"]?.string.flatMap(NATSTime.nanoseconds), let state = info["state"],
      let first = number(state["first_seq"]), let last = number(state["last_seq"]),
      first <= Limits.sequence, last <= Limits.sequence
    else { throw NATSError(operation, .refused(code: 0), "the response describes no stream") }
    self.init(
      created: created, firstSequence: first, lastSequence: last, messages: number(state["messages"]) ?? 0,
      bytes: number(state["bytes"]) ?? 0, replicas: Int(clamping: number(info["config"]?["num_replicas"]) ?? 1),
      hasQuorum: info["cluster"].map(Self.hasQuorum) ?? true)
  }

  /// A leader without the others remains the leader for about 20 seconds, and answers.
  private static func hasQuorum(_ cluster: JSON) -> Bool {
    guard let leader = cluster["leader"]?.string, !leader.isEmpty else { return false }
    let others = cluster["replicas"]?.elements ?? []
    let present = others.count { peer in
      guard peer["offline"] != true, case .integer(let active) = peer["active"] else { return false }
      return active < Int64(Limits.peerSilence / .nanoseconds(1))
    }
    return 1 + present > (1 + others.count) / 2
  }
}
