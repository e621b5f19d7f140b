internal import NetworkReachability

extension ListSetting {
  /// The properties of interfaces that the kernel does not report.
  static let interfaces = ListSetting(
    path: "interfaces",
    fields: [
      Field(name: "match", isRequired: true, expectation: "an interface's name, with * and ? as shells have them") {
        $0.first?.isEmpty == false
      },
      Field(name: "type", expectation: "one of \(InterfaceType.allCases.map(\.rawValue).joined(separator: ", "))") {
        InterfaceType(rawValue: $0.first ?? "") != nil
      },
      Field(name: "expensive", expectation: "true or false") { Bool($0.first ?? "") != nil },
      Field(name: "constrained", expectation: "true or false") { Bool($0.first ?? "") != nil },
    ]
  ) { configuration, records in
    configuration.interfaces += records.map { record in
      InterfaceOverride(
        match: record["match"] ?? "", type: record["type"].flatMap { InterfaceType(rawValue: $0) },
        isExpensive: record["expensive"].flatMap { Bool($0) }, isConstrained: record["constrained"].flatMap { Bool($0) }
      )
    }
  }
}
