internal import JSONFormat
internal import NetworkReachability
internal import Webhooks

extension WebhookEvent {
  /// The event of a frame of the event stream; nil for bytes that are not one.
  init?(sequence: UInt64, frame: [UInt8]) {
    let bytes = SSEFrame.data(of: frame)
    guard let data = try? JSON.parse(bytes), let type = data["type"]?.string,
      let time = data["time"]?.string.flatMap({ Timestamp($0) })
    else { return nil }
    let target = data["target"]
    let subject =
      target?["id"]?.string.map { "target:\($0)" } ?? data["interface"]?["name"]?.string.map { "interface:\($0)" }
    var labels: [String: String] = [:]
    for label in target?["labels"]?.members ?? [] { labels[label.name] = label.value.string }
    self.init(
      sequence: sequence, time: time, type: type, subject: subject ?? "machine",
      state: data["to"]?.string ?? data["to"]?["status"]?.string, target: target?["id"]?.string, labels: labels,
      data: bytes)
  }
}
