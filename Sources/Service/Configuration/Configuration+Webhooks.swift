internal import NetworkReachability
internal import Webhooks

extension Configuration {
  package static let machineEventTypes = Set(EventType.published.map(\.name))
  package static let fleetEventTypes: Set = ["verdict", "agent"]

  /// The problems of webhooks with types of events that this process does not have.
  package func webhookProblems(types: Set<String>) -> [ConfigurationError] {
    webhooks.compactMap { webhook in
      let others = webhook.filter.types.subtracting(types).sorted()
      guard !others.isEmpty else { return nil }
      return ConfigurationError(
        location: "configuration", path: "webhooks",
        problem:
          "the webhook \(webhook.id) has the types \(others.joined(separator: ", ")), of which there are no events here",
        hint: "this program has \(types.sorted().joined(separator: ", "))")
    }
  }
}
