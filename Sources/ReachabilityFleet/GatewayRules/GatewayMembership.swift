/// The decisions of a replica about `hello` and `bye` of an agent, from the last message about that agent in the stream.
///
/// Each publication is conditional on that message, so that a repeated request stores nothing twice.
public enum GatewayMembership {
  /// What a replica does.
  public enum Step: Hashable, Sendable {
    /// Answer with the sequence of the message that the stream has; 0 for nothing to do.
    case known(UInt64)
    /// Publish, if the last message is still this one.
    ///
    /// - Parameters:
    ///   - content: the message.
    ///   - expectation: the last message.
    ///   - isFirst: whether no message of this process was the last one: another process may have the id.
    ///   - changes: whether the attributes are others than those of the last `hello`.
    case publish(NodeMessage.Content, expecting: FleetEngineExpectedLast, isFirst: Bool, changes: Bool)
  }

  /// The last message about an agent.
  public struct Last: Hashable, Sendable {
    /// Its stream sequence.
    public var sequence: UInt64
    /// The message; nil when it is not understood.
    public var content: NodeMessage.Content?

    /// Creates it.
    public init(sequence: UInt64, content: NodeMessage.Content?) {
      self.sequence = sequence
      self.content = content
    }
  }

  /// Decides about a `hello`.
  public static func step(_ hello: GatewayHello, after last: Last?) -> Step {
    var attributes = hello.attributes
    attributes.role = .agent
    let content = NodeMessage.Content.hello(attributes, restates: hello.known > 0, instance: hello.instance)
    guard let last else {
      return .publish(content, expecting: .none, isFirst: hello.known == 0, changes: false)
    }
    let expectation = FleetEngineExpectedLast.sequence(last.sequence)
    switch last.content {
    case .hello(attributes, _, hello.instance)?:
      // A restatement that was requested before is the last message now.
      guard hello.restates, last.sequence == hello.known else { return .known(last.sequence) }
      return .publish(content, expecting: expectation, isFirst: false, changes: false)
    case .hello(let other, _, let instance)?:
      return .publish(
        content, expecting: expectation, isFirst: instance != hello.instance, changes: other != attributes)
    // Its own `hello` was the one before, unless another process has begun since.
    case .lost?: return .publish(content, expecting: expectation, isFirst: hello.known == 0, changes: false)
    case .bye?, nil: return .publish(content, expecting: expectation, isFirst: true, changes: false)
    }
  }

  /// Decides about a `bye`: it ends the `hello` of the same process only.
  public static func step(byeOf instance: UInt64, after last: Last?) -> Step {
    guard let last, case .hello(_, _, instance)? = last.content else { return .known(0) }
    return .publish(.bye, expecting: .sequence(last.sequence), isFirst: false, changes: false)
  }
}
