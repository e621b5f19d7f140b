internal import ReachabilityModel

/// The webhooks and their delivery states.
///
/// Each input changes the states and returns the effects to perform.
struct WebhookTable: Sendable {
  struct Entry: Sendable {
    var definition: WebhookDefinition
    /// Nil until the stored position is known.
    var state: WebhookDeliveryState?
    /// Whether the receiver has a route; stored here until there is a state.
    ///
    /// Nil until it is reported.
    var hasRoute: Bool?
    /// When the state must be advanced; nil for never.
    var wakeAt: Duration?
    /// The number of the request that was cancelled.
    var cancelled: Int?
    var totals: [WebhookDeliveryRecord.Result: Int] = [:]
  }

  struct Action: Sendable {
    var webhook: WebhookDefinition
    var effect: WebhookDeliveryState.Effect
  }

  typealias Moment = WebhookDeliveryState.Moment

  let source: String
  var entries: [String: Entry] = [:]
  /// The ids in the order of the configuration.
  private(set) var order: [String] = []
  /// The stored positions; nil until they are read.
  ///
  /// Also contains the positions of removed webhooks, which continue from there if they are added again.
  var stored: [String: WebhookPosition]?
  /// Whether the watched hosts have routes, as reported: the engine reports a host once, and not for each webhook.
  private var routes: [ReachabilityTarget: Bool] = [:]
  /// The webhooks that this process sends; nil for all.
  var owned: Set<String>?
  var epoch = ""
  var end: UInt64 = 0
  /// The number of states that were made.
  ///
  /// The numbers of their requests differ, because that of a removed webhook may end after the webhook was added again.
  private var states = 0

  init(source: String) { self.source = source }

  var hosts: [ReachabilityTarget] {
    var seen: Set<ReachabilityTarget> = []
    return order.compactMap { entries[$0]?.definition.url.routeTarget }.filter { seen.insert($0).inserted }
  }

  /// The positions of all webhooks, also of removed ones.
  var positions: [String: WebhookPosition] {
    (stored ?? [:]).merging(entries.compactMapValues(\.state?.position)) { $1 }
  }

  /// The next time at which a state must be advanced; nil for none.
  var wakeAt: Duration? { entries.values.compactMap(\.wakeAt).min() }

  /// Forgets the routes to hosts that are not watched any more.
  mutating func forgetRoutes(except hosts: [ReachabilityTarget]) { routes = routes.filter { hosts.contains($0.key) } }

  // MARK: - Inputs

  /// Replaces the webhooks; those with the same id continue.
  mutating func configure(_ definitions: [WebhookDefinition], _ now: Moment) -> [Action] {
    order = definitions.map(\.id)
    let known = entries
    entries = [:]
    var actions: [Action] = []
    for definition in definitions {
      guard var entry = known[definition.id] else {
        entries[definition.id] = Entry(definition: definition, hasRoute: routes[definition.url.routeTarget])
        actions += start(definition.id, now)
        continue
      }
      let old = entry.definition
      let isSameHost = old.url.routeTarget == definition.url.routeTarget
      entry.definition = definition
      if !isSameHost { entry.hasRoute = routes[definition.url.routeTarget] }
      entries[definition.id] = entry
      guard old != definition else { continue }
      actions += change(definition.id) { [hasRoute = entry.hasRoute] state in
        if !isSameHost { state.hasRoute = nil }
        // The failures, the Retry-After and the 410 of the previous URL do not apply to a new one.
        let restart = old.url == definition.url || state.position.pause == .requested ? [] : state.resume(now)
        let effects =
          restart
          + state.reconfigure(
            maximumAge: definition.maximumAge, deniedRetry: definition.deniedRetry, now)
        guard !isSameHost, let hasRoute else { return effects }
        return effects + state.routeChanged(isPresent: hasRoute, now)
      }
    }
    // Keeps the position of a removed webhook, which continues from there if it is added again.
    for (id, entry) in known where entries[id] == nil {
      guard let state = entry.state else { continue }
      stored?[id] = state.position
      actions += state.remove().map { Action(webhook: entry.definition, effect: $0) }
    }
    return actions
  }

  mutating func load(_ positions: [String: WebhookPosition], epoch: String, end: UInt64, _ now: Moment) -> [Action] {
    guard stored == nil else { return [] }
    stored = positions
    self.epoch = epoch
    self.end = max(self.end, end)
    return order.flatMap { start($0, now) }
  }

  mutating func start(_ id: String, _ now: Moment) -> [Action] {
    guard let stored, let entry = entries[id], entry.state == nil, isOwned(id) else { return [] }
    let seed = UInt64.random(in: .min ... .max)
    var state = WebhookDeliveryState(
      stored[id], epoch: epoch, end: end, maximumAge: entry.definition.maximumAge,
      deniedRetry: entry.definition.deniedRetry, source: source, seed: seed, now)
    states += 1
    state.lastNumber = states << 32
    var effects = state.start(now)
    if let hasRoute = entry.hasRoute { effects += state.routeChanged(isPresent: hasRoute, now) }
    entries[id]?.state = state
    return note(effects, id)
  }

  /// More events are visible.
  mutating func available(_ end: UInt64, _ now: Moment) -> [Action] {
    self.end = max(self.end, end)
    return order.flatMap { id in change(id) { $0.available(end, now) } }
  }

  /// The route to a host has changed.
  mutating func routeChanged(_ host: ReachabilityTarget, isPresent: Bool, _ now: Moment) -> [Action] {
    routes[host] = isPresent
    return order.filter { entries[$0]?.definition.url.routeTarget == host }.flatMap { id in
      entries[id]?.hasRoute = isPresent
      return change(id) { $0.routeChanged(isPresent: isPresent, now) }
    }
  }

  /// A read has returned events, which are not filtered yet.
  mutating func received(_ batch: WebhookBatch, _ id: String, _ number: Int, _ now: Moment) -> [Action] {
    guard let filter = entries[id]?.definition.filter else { return [] }
    var batch = batch
    if case .events(let events, let through) = batch {
      batch = .events(events.filter(filter.accepts), through: through)
    }
    return change(id) { $0.received(batch, from: number, now) }
  }

  /// An attempt to deliver has ended.
  mutating func finished(_ result: CheckResult, _ id: String, _ number: Int, _ now: Moment) -> [Action] {
    let wasCancelled = entries[id]?.cancelled == number
    let outcome = WebhookRequest.outcome(of: result, wasCancelled: wasCancelled, now: now.time)
    return change(id) { $0.finished(outcome, number, now) }
  }

  /// Advances the states that are due.
  mutating func advance(_ now: Moment) -> [Action] {
    let due = order.filter { entries[$0]?.wakeAt.map { $0 <= now.uptime } ?? false }
    return due.flatMap { id in
      entries[id]?.wakeAt = nil
      return change(id) { $0.advance(now) }
    }
  }

  /// Applies an input to the state of a webhook; does nothing if it has no state yet.
  mutating func change(_ id: String, _ body: (inout WebhookDeliveryState) -> [WebhookDeliveryState.Effect]) -> [Action]
  {
    guard var state = entries[id]?.state else { return [] }
    let effects = body(&state)
    entries[id]?.state = state
    return note(effects, id)
  }

  /// Updates an entry from the effects, and returns them as actions.
  private mutating func note(_ effects: [WebhookDeliveryState.Effect], _ id: String) -> [Action] {
    guard let definition = entries[id]?.definition else { return [] }
    for effect in effects {
      switch effect {
      case .wake(let at): entries[id]?.wakeAt = at
      case .cancel(let number): entries[id]?.cancelled = number
      case .record(let record): entries[id]?.totals[record.result, default: 0] += 1
      case .read, .send, .save, .report, .abandon: break
      }
    }
    return effects.map { Action(webhook: definition, effect: $0) }
  }
}
