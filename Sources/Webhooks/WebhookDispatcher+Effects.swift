internal import Logging
internal import ReachabilityModel

extension WebhookDispatcher {
  func perform(_ action: WebhookTable.Action) {
    let id = action.webhook.id
    switch action.effect {
    case .read(let after, let number):
      source.read(after: after, limit: Limits.bufferBytes) { [weak self] in
        self?.take(.batch($0, id: id, number: number))
      }
    case .send(let message, let number):
      sender.send(message, to: action.webhook, number) { [weak self] in
        self?.take(.finished($0, id: id, number: number))
      }
    case .cancel(let number): sender.cancel(id, number)
    case .wake: break
    case .save(let position): writer.save(position, of: id)
    case .record(let record):
      writer.append(record, of: id)
      log(record, of: id)
    case .abandon(let token): replies.reply(token, .missing)
    case .report(let token, let record): replies.reply(token, record.map { .attempted($0) } ?? .noRoute)
    }
  }

  /// Logs effects that need an operator's attention; single attempts are in the delivery log.
  private func log(_ record: WebhookDeliveryRecord, of id: String) {
    var metadata: Logger.Metadata = ["webhook": "\(id)", "message": "\(record.message)"]
    if let status = record.status { metadata["status"] = "\(status)" }
    if let detail = record.detail { metadata["detail"] = "\(detail)" }
    switch record.result {
    case .deadLetter: logger.warning("webhook message given up", metadata: metadata)
    case .gone: logger.error("webhook paused by its receiver", metadata: metadata)
    case .dropped: logger.warning("webhook events dropped", metadata: metadata)
    case .delivered, .failed, .rejected: logger.debug("webhook attempt", metadata: metadata)
    }
  }

  // MARK: - Commands

  /// Starts a client's command.
  func start(
    _ command: WebhookCommand, on id: String, _ completion: @escaping @Sendable (WebhookCommandResult) -> Void
  ) {
    guard report(id) != nil else { return completion(.missing) }
    switch command {
    case .pause:
      change { table, now in table.change(id) { $0.pause(now) } }
      completion(report(id).map { .done($0) } ?? .missing)
    case .resume:
      change { table, now in table.change(id) { $0.resume(now) } }
      completion(report(id).map { .done($0) } ?? .missing)
    case .test:
      let number = UInt64.random(in: .min ... .max)
      let message = WebhookMessage(test: "test-\(String(number, radix: 36))", at: now.time, source: attributeSource)
      request(message, on: id, completion)
    case .redeliver(let event): redeliver(event, on: id, completion)
    }
  }

  /// Requests one attempt for a message, which is nil when its event is not stored.
  func request(
    _ message: WebhookMessage?, on id: String, _ completion: @escaping @Sendable (WebhookCommandResult) -> Void
  ) {
    guard let message else { return completion(.missingEvent) }
    let token = replies.add(completion)
    var isAccepted = false
    change { table, now in
      table.change(id) { state in
        let effects = state.request(message, token: token, now)
        isAccepted = effects != nil
        return effects ?? []
      }
    }
    if !isAccepted { replies.reply(token, .busy) }
  }

  private func redeliver(
    _ event: String, on id: String, _ completion: @escaping @Sendable (WebhookCommandResult) -> Void
  ) {
    let (epoch, source, requested) = (source.epoch, attributeSource, event)
    // The id of a fleet's event has a third part.
    let digits = event.dropFirst(epoch.utf8.count + 1).prefix { $0 != "-" }
    // UInt64(_:) would accept a sign.
    guard event.hasPrefix("\(epoch)-"), digits.isDecimal,
      let sequence = UInt64(digits), sequence > 0, sequence <= self.source.end
    else { return completion(.missingEvent) }
    // One event is enough, whatever its size.
    self.source.read(after: sequence - 1, limit: 1) { [weak self] batch in
      var message: WebhookMessage?
      if case .events(let events, _) = batch, let event = events.first, event.sequence == sequence {
        message = WebhookMessage(event, epoch: epoch, source: source)
      }
      if message?.id != requested { message = nil }
      self?.take(.message(message, id: id, completion))
    }
  }
}
