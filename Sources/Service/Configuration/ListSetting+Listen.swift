internal import HTTPRouting
internal import StatusAPI

extension ListSetting {
  private static let rule = "open or token"

  @Sendable private static func isRule(_ texts: [String]) -> Bool {
    AccessPolicy.Rule(rawValue: texts.first ?? "") != nil
  }

  /// A mode as chmod(1) accepts it: permission bits only.
  @Sendable private static func mode(_ text: String) -> UInt32? {
    UInt32(text, radix: 8).flatMap { (0...0o777).contains($0) ? $0 : nil }
  }

  /// The addresses, if one of them has rules of its own.
  static let listen = ListSetting(
    path: "listen",
    fields: [
      Field(
        name: "address", isRequired: true, expectation: "an address with port, such as 127.0.0.1:8080, or unix:/path"
      ) { (try? ListenAddress(parsing: $0.first ?? "")) != nil },
      Field(name: "reads", expectation: rule, isValid: isRule),
      Field(name: "checks", expectation: rule, isValid: isRule),
      Field(name: "mode", expectation: "permissions in octal, such as \"0660\"") { mode($0.first ?? "") != nil },
      Field(name: "freebind", expectation: "on") { $0 == ["on"] },
      Field(name: "tls", expectation: "off") { $0 == ["off"] },
      Field(name: "certificate", expectation: "the path of a file") { $0.first?.isEmpty == false },
      Field(name: "key", expectation: "the path of a file") { $0.first?.isEmpty == false },
    ],
    shorthand: "address"
  ) { configuration, records in
    configuration.listeners = records.compactMap { record in
      guard let address = try? ListenAddress(parsing: record["address"] ?? "") else { return nil }
      var listener = ListenerConfiguration(address)
      listener.reads = record["reads"].flatMap(AccessPolicy.Rule.init)
      listener.checks = record["checks"].flatMap(AccessPolicy.Rule.init)
      listener.mode = record["mode"].flatMap(mode)
      listener.isFreebind = record["freebind"] != nil
      listener.isTLSDisabled = record["tls"] != nil
      listener.tls = TLSFiles(certificate: record["certificate"], key: record["key"])
      return listener
    }
  }
}
