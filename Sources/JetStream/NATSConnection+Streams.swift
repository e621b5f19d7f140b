internal import CNATS
internal import Glibc

extension NATSConnection {
  // MARK: - Streams

  /// Creates a stream, or finds one with the same settings.
  ///
  /// - Returns: its status.
  /// - Throws: `otherConfiguration` when a stream of this name has other settings.
  @discardableResult
  public func createStream(_ wanted: JetStreamConfiguration, within timeLimit: Duration) throws(JetStreamError)
    -> JetStreamStatus
  {
    let operation = "create stream \(wanted.name)"
    try checkConnected(operation)
    var configuration = unsafe jsStreamConfig()
    unsafe jsStreamConfig_Init(&configuration)
    let name = unsafe strdup(wanted.name)
    let subjects = unsafe wanted.subjects.map { unsafe strdup($0) }
    defer {
      unsafe free(name)
      unsafe subjects.forEach { unsafe free($0) }
    }
    var pointers = unsafe subjects.map { unsafe UnsafePointer<CChar>($0) }
    unsafe configuration.Name = unsafe UnsafePointer(name)
    unsafe configuration.Replicas = Int64(wanted.replicas)
    unsafe configuration.MaxAge = Int64(wanted.maximumAge / .nanoseconds(1))
    unsafe configuration.MaxBytes = wanted.maximumBytes
    unsafe configuration.MaxMsgSize = Int32(Limits.payload + Limits.headerBytes)
    unsafe configuration.DenyDelete = true
    unsafe configuration.DenyPurge = true
    unsafe configuration.AllowDirect = true
    var found: UnsafeMutablePointer<jsStreamInfo>?
    var code = jsErrCode(0)
    let status = unsafe pointers.withUnsafeMutableBufferPointer { list in
      unsafe configuration.Subjects = list.baseAddress
      unsafe configuration.SubjectsLen = Int32(list.count)
      var options = unsafe Self.options(timeLimit)
      return unsafe js_AddStream(&found, streams, &configuration, &options, &code)
    }
    guard status == NATS_OK, let found = unsafe found else {
      throw JetStreamError.last(operation, status, code: code)
    }
    defer { unsafe jsStreamInfo_Destroy(found) }
    return unsafe JetStreamStatus(found.pointee)
  }

  /// Reads the status of a stream.
  ///
  /// - Throws: `notFound` when there is none.
  public func stream(_ name: String, within timeLimit: Duration) throws(JetStreamError) -> JetStreamStatus {
    try checkConnected("status of stream \(name)")
    var found: UnsafeMutablePointer<jsStreamInfo>?
    var code = jsErrCode(0)
    var options = unsafe Self.options(timeLimit)
    let status = unsafe js_GetStreamInfo(&found, streams, name, &options, &code)
    guard status == NATS_OK, let found = unsafe found else {
      throw JetStreamError.last("status of stream \(name)", status, code: code)
    }
    defer { unsafe jsStreamInfo_Destroy(found) }
    return unsafe JetStreamStatus(found.pointee)
  }

  /// Deletes a stream with its messages.
  ///
  /// - Throws: `notFound` when there is none.
  public func deleteStream(_ name: String, within timeLimit: Duration) throws(JetStreamError) {
    var code = jsErrCode(0)
    var options = unsafe Self.options(timeLimit)
    let status = unsafe js_DeleteStream(streams, name, &options, &code)
    guard status == NATS_OK else { throw JetStreamError.last("delete stream \(name)", status, code: code) }
  }

  // MARK: - Messages of streams

  /// Publishes a message and waits until the stream has stored it.
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
  ) throws(JetStreamError) -> UInt64 {
    let operation = "publish \(subject)"
    try checkConnected(operation)
    try Self.checkSize(payload, operation)
    var made: OpaquePointer?
    var status = unsafe payload.withUnsafeBytes { bytes in
      unsafe natsMsg_Create(
        &made, subject, nil, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(bytes.count))
    }
    guard status == NATS_OK, let message = unsafe made else { throw JetStreamError.last(operation, status) }
    defer { unsafe natsMsg_Destroy(message) }
    if let expected {
      status = unsafe natsMsgHeader_Set(message, "Nats-Expected-Last-Subject-Sequence", expected.headerValue)
      guard status == NATS_OK else { throw JetStreamError.last(operation, status) }
    }
    var options = unsafe jsPubOptions()
    unsafe jsPubOptions_Init(&options)
    unsafe options.MaxWait = timeLimit.wholeMilliseconds
    var acknowledgement: UnsafeMutablePointer<jsPubAck>?
    var code = jsErrCode(0)
    status = unsafe js_PublishMsg(&acknowledgement, streams, message, &options, &code)
    guard status == NATS_OK, let acknowledgement = unsafe acknowledgement else {
      throw JetStreamError.last(operation, status, code: code)
    }
    defer { unsafe jsPubAck_Destroy(acknowledgement) }
    return unsafe acknowledgement.pointee.Sequence
  }

  /// Reads the last message of a subject from any server that stores the stream, so it may be an older one.
  ///
  /// - Returns: the message; nil when the stream has none.
  /// - Throws: `noResponders` when there is no stream (`timedOut` before nats-server 2.10), or another error.
  public func lastMessage(of subject: String, in stream: String, within timeLimit: Duration) throws(JetStreamError)
    -> JetStreamMessage?
  {
    try directMessage("\(stream).\(subject)", [], within: timeLimit)
  }

  /// Reads the first message of a subject, with wildcards, from a number on; any server that stores the stream answers,
  /// so the last messages may be missing.
  ///
  /// - Returns: the message; nil when the server has none.
  /// - Throws: `noResponders` when there is no stream (`timedOut` before nats-server 2.10), or another error.
  public func nextMessage(
    of subject: String, in stream: String, from sequence: UInt64, within timeLimit: Duration
  ) throws(JetStreamError) -> JetStreamMessage? {
    try directMessage(
      stream, Array("{\"seq\":\(max(1, sequence)),\"next_by_subj\":\"\(subject)\"}".utf8), within: timeLimit)
  }

  private func directMessage(_ target: String, _ request: [UInt8], within timeLimit: Duration) throws(JetStreamError)
    -> JetStreamMessage?
  {
    let reply = try self.request(
      "$JS.API.DIRECT.GET.\(target)", request, within: timeLimit,
      headers: ["Nats-Stream", "Nats-Subject", "Nats-Sequence", "Nats-Time-Stamp"])
    if reply.status == 404 { return nil }
    // The values of the response come after those of the message, if that is the copy of another response.
    guard let sequence = reply.headers["Nats-Sequence"]?.last.flatMap({ UInt64($0) }), sequence <= Limits.sequence,
      let subject = reply.headers["Nats-Subject"]?.last
    else {
      throw JetStreamError(
        "read \(target)", .refused(code: reply.status ?? 0), "the response has no sequence number")
    }
    return JetStreamMessage(
      subject: subject, sequence: sequence,
      time: reply.headers["Nats-Time-Stamp"]?.last.flatMap { NATSTime.nanoseconds($0) } ?? 0,
      payload: reply.payload, isCopy: (reply.headers["Nats-Stream"]?.count ?? 0) > 1)
  }

  static func options(_ timeLimit: Duration) -> jsOptions {
    var options = unsafe jsOptions()
    unsafe jsOptions_Init(&options)
    unsafe options.Wait = timeLimit.wholeMilliseconds
    return unsafe options
  }
}

extension JetStreamStatus {
  fileprivate init(_ info: jsStreamInfo) {
    let state = unsafe info.State
    self.init(
      created: unsafe info.Created, firstSequence: unsafe state.FirstSeq, lastSequence: unsafe state.LastSeq,
      messages: unsafe state.Msgs, bytes: unsafe state.Bytes,
      replicas: unsafe info.Config.map { unsafe Int($0.pointee.Replicas) } ?? 1,
      hasQuorum: unsafe info.Cluster.map { unsafe Self.hasQuorum($0.pointee) } ?? true)
  }

  /// A leader without the others remains the leader for about 20 seconds, and answers.
  private static func hasQuorum(_ cluster: jsClusterInfo) -> Bool {
    guard let leader = unsafe cluster.Leader, unsafe leader.pointee != 0 else { return false }
    let others = Int(unsafe cluster.ReplicasLen)
    let present = (0..<others).count { index in
      guard let peer = unsafe cluster.Replicas?[index] else { return false }
      return unsafe !peer.pointee.Offline && peer.pointee.Active < Int64(Limits.peerSilence / .nanoseconds(1))
    }
    return 1 + present > (1 + others) / 2
  }
}
