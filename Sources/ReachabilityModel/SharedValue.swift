/// A value that several owners hold by reference; equal when the values are equal.
package final class SharedValue<Value: Hashable & Sendable>: Hashable, Sendable {
  package let value: Value

  @inlinable
  package init(_ value: Value) { self.value = value }

  @inlinable
  package static func == (left: SharedValue, right: SharedValue) -> Bool {
    left === right || left.value == right.value
  }

  @inlinable
  package func hash(into hasher: inout Hasher) { hasher.combine(value) }
}
