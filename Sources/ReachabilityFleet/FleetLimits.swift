/// The limits of the fleet.
public enum FleetLimits {
  /// The numbers of events that each message of the stream has: one for a gap before it, and its changes.
  public static let eventsPerMessage: UInt64 = 256
  /// Changes or base cells of a message: with long names below ``messageBytes``, and one replicated write.
  public static let changesPerMessage = 255
  /// The parts of a base; more cells of one agent are not kept.
  public static let baseParts = 64
  /// The cells of an agent: every target of the largest fleet, and the other agents that it checks.
  static let cellsPerAgent = baseParts * changesPerMessage
  /// Bytes of a message; the engine's own limit is 1 MiB, and short messages delay others less.
  public static let messageBytes = 128 * 1024
  /// Events that wait for the engine; beyond, only the last change of each target is kept.
  public static let outboxEvents = 100_000
  /// Bytes of events that wait for the engine; beyond, only the last change of each target is kept.
  public static let outboxBytes = 64 * 1024 * 1024
  /// Acknowledged events that are published again after the engine lost its stream.
  public static let repeatedEvents = 10_000
  /// The highest stream sequence: event ids that are derived from it have 64 bits.
  public static let latestSequence: UInt64 = 1 << 55
  /// The messages of one subject that the stream keeps: a second limit of what an agent can displace.
  ///
  /// Two bases of the most
  /// cells, and the changes of more than an hour at one message a second.
  public static let messagesPerSubject = 4096
  /// The agents that a verdict names; the matrix has all of them.
  public static let namedAgents = 16
  /// The time without a heartbeat after which a replica reports an agent as lost: three heartbeats.
  public static let silence = Duration.seconds(6)
  /// The longest time without a heartbeat until a replica reports an agent that has said several times that it is there:
  /// the path between the two may be broken, and the other replicas report it after ``silence``.
  static let longestSilence = Duration.seconds(24)
  /// How long after a report an agent's `hello` means that the report was wrong.
  static let reportAnswer = Duration.seconds(12)
  /// The time after which the agent is reported after ``silence`` again.
  static let patienceAge = Duration.seconds(10 * 60)
  /// The time without a heartbeat after which a replica asks an agent whether it is there: one is missing.
  static let missedHeartbeat = Duration.seconds(3)
  /// How often, a second apart, the engine must have no subscription of an agent before it counts as lost.
  static let absences = 2
  /// The time for which the report of a lost agent waits for others whose heartbeat is missing: agents that end together
  /// differ by one heartbeat in their last one, and replicas consider them once a second.
  static let silenceRound = Duration.seconds(3)
  /// The time between two considerations of a verdict that waits for agents to be heard or lost.
  static let silenceReview = Duration.milliseconds(200)
  /// The time after which a report of a lost node is repeated: its publication may have failed in an election.
  public static let reportRepetition = Duration.seconds(3)
  /// The agents that a replica asks at a time; the others count as lost after ``silence``.
  static let questionsPerRound = 16
  /// The time between two heartbeats.
  public static let heartbeatInterval = Duration.seconds(2)
  /// Bytes of a heartbeat: the most targets with the longest ids, and the rest; longer ones are dropped unread.
  public static let heartbeatBytes = 4096
  /// The events that wait for the engine according to a heartbeat, at most; more than an agent can keep.
  public static let reportedOutbox = 1_000_000_000
  /// The targets that one heartbeat names because their checks failed; more are not named.
  public static let suspectsPerHeartbeat = 32
  /// The least time between two heartbeats of an agent that name such targets.
  static let suspicionInterval = Duration.milliseconds(100)
  /// The least time between two requests of a replica to check one target now: longer than the checks that follow from
  /// the first one, which would be the reason for the second one.
  static let suspicionPause = Duration.seconds(5)
  /// The targets in a second that a replica has checked now; the others wait for the agents' own checks.
  static let suspicionsPerSecond = 64
  /// The agents that are asked to check one target now, in the target's order.
  static let askedAgents = 128
  /// The time that the answer to a question about a target may take besides twice the timeout of its check.
  static let dependencyGrace = Duration.seconds(1)
  /// The longest time that `down` waits for the targets on which a target depends.
  static let dependencyWait = Duration.seconds(60)
  /// The least time between two questions of a replica about one target.
  static let dependencyPause = Duration.seconds(1)
  /// The time after which a replica considers again whether it has to ask in the place of another one.
  static let dependencyReview = Duration.seconds(2)
  /// The agents that a replica asks about one target, in the target's order: each answer occupies a thread.
  static let questionAgents = 32
  /// The targets of one question: an agent checks no more.
  static let questionTargets = 256
  /// The targets in a second that a replica asks about: those that depend on one that works again are many.
  static let questionsPerSecond = 256
  /// The time between two attempts of a replica to ask an agent, while too many answers are awaited.
  public static let questionRepetition = Duration.milliseconds(500)
  /// The time between two bases of an agent, before jitter.
  public static let baseInterval = Duration.seconds(15 * 60)
  /// The time after which a base is requested again that is not folded yet.
  static let baseRepetition = Duration.seconds(5)
  /// The bases that a replica requests at a time: a base of the most cells has 64 messages.
  static let basesPerRound = 256
  /// The time between two handshakes of an agent that has nothing to publish.
  public static let idleHandshakeInterval = Duration.seconds(60)
  /// The time for which `down` is kept after its rule has failed, so that one result cannot alternate it.
  public static let downHold = Duration.seconds(2)
  /// The delay of each replica behind the one ranked before it.
  public static let proposalDelay = Duration.milliseconds(250)
  /// The time for which a replica proposes nothing after it began to fold another stream: agents publish their bases.
  public static let foldGrace = Duration.seconds(15)
  /// The time after which a proposal that was not accepted is repeated.
  public static let proposalRepetition = Duration.seconds(1)
  /// The maximum age of the stream's messages; a lost node is removed with them.
  public static let streamAge = Duration.seconds(24 * 3600)
  /// The deleted targets that are remembered, so that no replica that missed a deletion defines the target again: as many
  /// as a fleet has targets.
  static let deletedTargets = 10_000
  /// How often a fold discards what is too old for the stream, by the times of its messages.
  static let expiryInterval = Duration.seconds(60)
  /// The latest time of a message, in nanoseconds since 1970: the year 2116, and small enough for sums.
  static let latestTime: Int64 = 1 << 62
  /// The age at which nodes, definitions and verdicts are published again.
  public static let restatementAge = Duration.seconds(8 * 3600)
  /// The delay of each replica behind the one ranked before it, which publishes them again.
  static let restatementDelay = Duration.seconds(3600)
  /// The time for which a cell counts at its old agent while the new one has no result.
  public static let handOver = Duration.seconds(15)
}
