import ReachabilityFleet

/// What a hostile agent tries: every subject for a reply, header and subject.
enum AttackTable {
  /// The subjects on which the agent may publish.
  static func permitted(_ agent: String) -> [String] {
    ["\(FleetSubject.request(agent))", "\(FleetSubject.heartbeat(agent))", "_ANSWER.x"]
  }

  /// The subjects of others: in replies and headers, and for direct publications.
  static let others = [
    "rx2.verdict.t1", "rx2.ev.node1", "rx2.ev.evil", "rx2.roster.node.node1", "rx2.roster.node.evil",
    "rx2.roster.target.t1", "rx2.hook.h", "rx2.in.node1", "rx2.hb.node1", "rx2.hb.replica1", "rx2.ask.node1",
    "rx2.ask.evil", "rx2.new.node1", "rx2.new.evil", "_INBOX.agent.node1.watched", "_INBOX.replica.replica1.x",
    "_DELIVER.replica.replica1.x", "$JS.API.STREAM.INFO.RX2", "$JS.API.STREAM.DELETE.RX2",
    "$JS.API.STREAM.PURGE.RX2", "$JS.API.STREAM.CREATE.EVIL", "$JS.API.CONSUMER.CREATE.RX2",
    "$JS.API.DIRECT.GET.RX2", "$JS.API.DIRECT.GET.RX2.rx2.verdict.t1", "$JS.API.INFO", "$JS.FC.RX2.x",
    "$JS.ACK.RX2.c.1.1.1.1.1", "$SYS.REQ.SERVER.PING",
  ]

  /// Subjects for replies that are none of the agent's inbox, or unusual ones of it.
  static let replies =
    others + [
      ">", "*", "rx2.>", "rx2.*.node1", "_INBOX.agent.evil.>", "_INBOX.agent.evil.*", "_INBOX.agent.*.watched",
      "_INBOX.agent.evil", "_INBOX.agent.evil.a.b.c", "_INBOX.agent.evil.a-b", "_INBOX.agent.evil.\u{e9}",
      "_INBOX.agent.evil..x", "_INBOX.agent.evil2.x", "_INBOX.agent.evil." + String(repeating: "a", count: 120),
      "_ANSWER.y",
    ]

  /// Subscriptions, with and without a group.
  static let subscriptions = [
    ">", "*", "rx2.>", "rx2.*.*", "rx2.in.*", "rx2.in.evil", "rx2.hb.*", "rx2.ask.*", "rx2.ask.node1", "rx2.new.*",
    "rx2.new.node1", "rx2.ev.*", "rx2.ev.evil", "rx2.verdict.*", "rx2.roster.>", "rx2.hook.*", "_INBOX.>",
    "_INBOX.agent.*.>", "_INBOX.agent.node1.>", "_INBOX.replica.>", "_ANSWER.>", "_ANSWER.*", "_DELIVER.>", "$JS.>",
    "$SYS.>", "$JS.EVENT.>",
  ]

  /// Blocks of headers.
  static let headers: [[UInt8]] = {
    var lines: [String] = []
    for subject in others.prefix(17) + ["x", "rx2.>"] {
      lines += [
        "Nats-Trace-Dest: \(subject)", "Nats-Trace-Dest: \(subject)\r\nNats-Trace-Only: true",
        "Nats-Expected-Stream: \(subject)", "Nats-Incr: \(subject)",
        "Nats-Schedule: @every 1s\r\nNats-Schedule-Target: \(subject)",
      ]
    }
    lines += [
      "Nats-Expected-Last-Msg-Id: x", "Nats-Expected-Last-Sequence: 99999", "Nats-Expected-Last-Subject-Sequence: 0",
      "Nats-Expected-Last-Subject-Sequence: 0\r\nNats-Expected-Last-Subject-Sequence-Subject: rx2.verdict.*",
      "Nats-Msg-Id: v1", "Nats-Rollup: all", "Nats-Rollup: sub", "Nats-TTL: 1s", "Nats-Marker-Reason: Remove",
      "Nats-Stream: RX2", "Nats-Batch-Id: u\r\nNats-Batch-Sequence: 1\r\nNats-Batch-Commit: 1",
      "Nats-Required-Api-Level: 999", "Status: 503", "Nats-Request-Info: {\"acc\":\"FLEET\"}",
      "traceparent: 00-80e1afed08e019fc1110464cfa66635c-7a085853722dc6d2-01", "Nats-Subject: rx2.ev.node1",
      "Nats-Sequence: 1", "Nats-Last-Consumer: 9", "Nats-Consumer-Stalled: rx2.ev.node1",
    ]
    let blocks = lines.map { "NATS/1.0\r\n\($0)\r\n\r\n" }
    let malformed = [
      "NATS/1.0\r\nX: 1" + String(repeating: "\r\n", count: 9), "NATS/1.0\r\nno colon\r\n\r\n",
      "NATS/1.0\r\n: \r\n\r\n",
      "NATS/1.0 503\r\n\r\n", "NATS/1.0 100 Idle Heartbeat\r\n\r\n",
    ]
    return (blocks + malformed).map { Array($0.utf8) }
  }()
}

extension AttackTable {
  /// Sends each payload on each permitted subject with every reply subject, and the first one with every header.
  static func send(_ payloads: [[UInt8]], over attacker: RawClient) {
    for reply in replies {
      for subject in permitted("evil") {
        for payload in payloads { attacker.publish(subject, reply: reply, payload) }
      }
    }
    for header in headers {
      for subject in permitted("evil") {
        for reply in ["_INBOX.agent.evil.q", "rx2.verdict.t1"] {
          attacker.publish(subject, reply: reply, payloads[0], header: header)
        }
      }
    }
  }
}
