internal import Locks
public import Logging
public import NetworkReachability
public import ReachabilityChecks
public import ReachabilityModel

/// Sends the events of the service to the receivers of the configuration: at least once, in order, one request at a time
/// for each receiver.
///
/// Inputs come from any thread and wait in a list; one queue (`webhooks`) applies them and performs their effects.
public final class WebhookDispatcher: Sendable {
  private let monitor: ReachabilityMonitor
  private let storage: any WebhookStorage
  private let clock: any CheckClock
  private let timer: any CheckTimer
  private let inputs = Locked<[Input]>([])
  private let table: Locked<WebhookTable>
  private let watch = Locked(Watch())
  let source: any WebhookEventSource
  let sender: WebhookSender
  let writer: WebhookWriter
  let replies = WebhookReplies()
  /// The attribute `source` of the messages.
  let attributeSource: String
  let logger: Logger

  /// A dispatcher without webhooks.
  ///
  /// - Parameters:
  ///   - monitor: watches the routes to the receivers.
  ///   - checker: sends the requests; it should serve nothing else, so that no check delays an event.
  ///   - source: the events.
  ///   - storage: the positions and the delivery log.
  ///   - configuration: its settings.
  ///   - clock: measures the delays; nil for this machine's clocks.
  ///   - logger: receives failures and recoveries.
  public init(
    monitor: ReachabilityMonitor, checker: Checker, source: any WebhookEventSource, storage: any WebhookStorage,
    configuration: Configuration, clock: (any CheckClock)? = nil, logger: Logger
  ) {
    let clock = clock ?? SystemCheckClock(label: "webhooks")
    self.clock = clock
    self.monitor = monitor
    self.source = source
    self.storage = storage
    self.logger = logger
    sender = WebhookSender(checker, configuration.policy, clock)
    writer = WebhookWriter(storage)
    attributeSource = WebhookMessage.source(machine: configuration.machine)
    table = Locked(WebhookTable(source: attributeSource))
    // The timer may outlive the dispatcher.
    let reference = WeakReference<WebhookDispatcher>()
    timer = clock.makeTimer { reference.object?.process() }
    reference.object = self
  }

  deinit { stop() }

  /// Reads the stored positions, and then begins to send.
  public func start() { storage.load { [weak self] in self?.take(.loaded($0)) } }

  /// Cancels the requests in progress and starts no more.
  public func stop() {
    watch.withLock { watch in
      watch.hasStopped = true
      watch.subscription = nil
    }
    sender.stop()
    replies.endAll()
  }

  // MARK: - Inputs

  /// Replaces the webhooks; those with the same id continue where they are.
  public func configure(_ definitions: [WebhookDefinition]) { take(.configure(definitions)) }

  /// Reports that more events are visible; never blocks.
  public func eventsAvailable(through end: UInt64) { take(.available(end)) }

  /// Carries out a client's request; `completion` runs exactly once, after the attempt if there is one.
  public func perform(
    _ command: WebhookCommand, on id: String, _ completion: @escaping @Sendable (WebhookCommandResult) -> Void
  ) {
    take(.command(command, id: id, completion))
  }

  func take(_ input: Input) {
    let isNew = inputs.withLock { inputs in
      // Thousands of events may become visible before the queue runs.
      if case .available = input, case .available = inputs.last {
        inputs[inputs.count - 1] = input
        return false
      }
      inputs.append(input)
      return true
    }
    if isNew { timer.fire() }
  }

  // MARK: - Reports

  /// The states of all webhooks, in the order of the configuration.
  public var reports: [WebhookReport] {
    let now = now
    return table.withLock { table in table.order.compactMap { table.report($0, now) } }
  }

  /// What a restart needs of each webhook, also of removed ones.
  public var positions: [String: WebhookPosition] { table.withLock(\.positions) }

  /// The state of one webhook; nil for an unknown id.
  public func report(_ id: String) -> WebhookReport? {
    let now = now
    return table.withLock { $0.report(id, now) }
  }

  /// The delivery log of a webhook, the newest entries first; nil when it cannot be read now.
  public func log(
    of id: String, before entry: Int64?, limit: Int, _ completion: @escaping @Sendable ([WebhookLogEntry]?) -> Void
  ) {
    storage.log(of: id, before: entry, limit: limit, completion)
  }

  var now: WebhookDeliveryState.Moment { WebhookDeliveryState.Moment(uptime: clock.uptime, time: clock.time) }

  // MARK: - The queue

  /// Applies the waiting inputs and performs their effects.
  private func process() {
    let waiting = inputs.withLock { inputs in
      defer { inputs = [] }
      return inputs
    }
    guard !watch.withLock(\.hasStopped) else { return }
    for input in waiting { apply(input) }
    change { $0.advance($1) }
    writer.flush()
    watchRoutes()
    loadAgain()
    let next = [table.withLock(\.wakeAt), watch.withLock(\.loadAgain)].compactMap(\.self).min()
    if let next { timer.fire(at: next) }
  }

  private func apply(_ input: Input) {
    switch input {
    case .configure(let definitions): change { $0.configure(definitions, $1) }
    case .loaded(let positions?): change { [source] in $0.load(positions, epoch: source.epoch, end: source.end, $1) }
    case .loaded(nil): watch.withLock { $0.loadAgain = clock.uptime + Limits.readRetry }
    case .owned(let positions, let epoch, let end): change { $0.own(positions, epoch: epoch, end: end, $1) }
    case .available(let end): change { $0.available(end, $1) }
    case .route(let verdict):
      let isMissing = CheckRules.isRouteMissing(verdict, monitor.reachesNameServer)
      let isPresent = !isMissing && verdict.path.status != .unknown
      change { $0.routeChanged(verdict.target, isPresent: isPresent, $1) }
    case .batch(let batch, let id, let number): change { $0.received(batch, id, number, $1) }
    case .finished(let result, let id, let number): change { $0.finished(result, id, number, $1) }
    case .command(let command, let id, let completion): start(command, on: id, completion)
    case .message(let message, let id, let completion): request(message, on: id, completion)
    }
  }

  /// Changes the states, and performs the effects in their order.
  func change(_ body: (inout WebhookTable, WebhookDeliveryState.Moment) -> [WebhookTable.Action]) {
    let now = now
    let actions = table.withLock { body(&$0, now) }
    for action in actions { perform(action) }
  }

  /// Watches the routes to the receivers that are configured now.
  private func watchRoutes() {
    let hosts = table.withLock(\.hosts)
    guard watch.withLock({ $0.hosts != hosts }) else { return }
    table.withLock { $0.forgetRoutes(except: hosts) }
    let subscription =
      hosts.isEmpty
      ? nil
      : monitor.listen(to: .host, watching: hosts, on: DeliveryContext { $0() }) { [weak self, monitor] update in
        // Without a host, changes were skipped: the present verdicts replace them.
        let verdicts = update.host.map { [$0] } ?? hosts.compactMap { monitor.verdict(of: $0) }
        for verdict in verdicts { self?.take(.route(verdict)) }
      }
    let old = watch.withLock { watch in
      defer { (watch.hosts, watch.subscription) = (hosts, watch.hasStopped ? nil : subscription) }
      return watch.subscription
    }
    old?.cancel()
  }

  private func loadAgain() {
    let now = clock.uptime
    let isDue = watch.withLock { watch in
      guard let at = watch.loadAgain, at <= now else { return false }
      watch.loadAgain = nil
      return true
    }
    if isDue { start() }
  }
}
