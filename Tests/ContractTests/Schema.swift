/// The part of JSON Schema (2020-12) that the contract uses; a keyword that is not in it is a complaint.
struct Schema {
  let contract: OpenAPIDocument
  let value: Value

  /// What is wrong with a value; nothing when it is valid.
  func violations(_ instance: Value, at location: String = "$") -> [String] {
    if value == .bool(false) { return ["\(location): not allowed"] }
    return value.members.sorted { $0.key < $1.key }.flatMap { violations($0.key, $0.value, instance, location) }
  }

  private func sub(_ value: Value) -> Schema { Schema(contract: contract, value: value) }

  private func violations(_ keyword: String, _ rule: Value, _ instance: Value, _ location: String) -> [String] {
    func violation(_ holds: Bool) -> [String] { holds ? [] : ["\(location): \(instance) against \(keyword) \(rule)"] }
    switch keyword {
    case "description", "default", "format", "example": return []
    case "$ref": return sub(contract.resolve(rule.text ?? "")).violations(instance, at: location)
    case "type": return violation((rule.texts + [rule.text].compactMap(\.self)).contains { instance.isOf($0) })
    case "enum": return violation(rule.elements.contains(instance))
    case "pattern": return violation(instance.matches(rule.text ?? ""))
    case "minimum": return violation(Value.isOrdered(rule, instance))
    case "maximum": return violation(Value.isOrdered(instance, rule))
    case "minLength": return violation(Value.isOrdered(rule, .number(Double(instance.text?.unicodeScalars.count ?? 0))))
    case "maxLength": return violation(Value.isOrdered(.number(Double(instance.text?.unicodeScalars.count ?? 0)), rule))
    case "minItems": return violation(Value.isOrdered(rule, .number(Double(instance.elements.count))))
    case "required": return violation(rule.texts.allSatisfy { instance[$0] != nil })
    case "items":
      return instance.elements.enumerated().flatMap { sub(rule).violations($1, at: "\(location)[\($0)]") }
    case "properties":
      return rule.members.flatMap { name, schema in
        instance[name].map { sub(schema).violations($0, at: "\(location).\(name)") } ?? []
      }
    case "additionalProperties":
      let known = value["properties"]?.members ?? [:]
      return instance.members.filter { known[$0.key] == nil }.flatMap {
        sub(rule).violations($0.value, at: "\(location).\($0.key)")
      }
    case "propertyNames":
      return instance.members.keys.flatMap { sub(rule).violations(.string($0), at: "\(location).\($0)") }
    case "maxItems": return violation(Value.isOrdered(.number(Double(instance.elements.count)), rule))
    case "maxProperties": return violation(Value.isOrdered(.number(Double(instance.members.count)), rule))
    case "allOf": return rule.elements.flatMap { sub($0).violations(instance, at: location) }
    case "oneOf":
      let outcomes = rule.elements.map { sub($0).violations(instance, at: location) }
      return outcomes.count(where: \.isEmpty) == 1
        ? [] : ["\(location): not exactly one of \(rule.elements.count)"] + outcomes.flatMap(\.self)
    default: return ["\(location): the keyword \(keyword) is not known here"]
    }
  }
}

extension Value {
  /// Whether this is of a type as JSON Schema names them.
  fileprivate func isOf(_ type: String) -> Bool {
    switch (self, type) {
    case (.null, "null"), (.bool, "boolean"), (.number, "number"), (.string, "string"), (.array, "array"),
      (.object, "object"):
      true
    case (.number(let number), "integer"): number == number.rounded()
    default: false
    }
  }

  fileprivate func matches(_ pattern: String) -> Bool {
    guard let text, let regex = try? Regex(pattern) else { return false }
    return text.contains(regex)
  }

  fileprivate static func isOrdered(_ low: Value, _ high: Value) -> Bool {
    guard case .number(let low) = low, case .number(let high) = high else { return false }
    return low <= high
  }
}
