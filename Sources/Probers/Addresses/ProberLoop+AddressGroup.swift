internal import EventLoop
internal import ReachabilityModel

// Checks of all addresses of a host: each address has a check of its own, with the rest of the time.
extension ProberLoop {
  func startGroup(_ check: ProberCheck, _ peers: [SocketPeer]) {
    let children = peers.map { peer in
      var request = check.request
      request.timeout = now.duration(to: check.deadline)
      let child = ProberCheck(inbox.nextID(), request, where: check.decision) { _ in }
      child.parent = check
      child.isResolved = true
      child.candidates = [peer]
      return child
    }
    check.step = .gathering
    cancelTimer(check)
    check.group = AddressGroup(children.map(\.id))
    for child in children { checks[child.id] = child }
    for (child, peer) in zip(children, peers) {
      if check.unroutedPeers.contains(peer) {
        child.peer = peer
        child.enter(.resolved, now)
        conclude(child, ProberResult(.unreachable, .noRoute, detail: "no route to \(peer.address)"))
      } else {
        requestSlot(child)
      }
    }
  }

  /// Adds the result of one address; the last one ends the check.
  func gather(_ result: CheckResult, of child: ProberCheck, for check: ProberCheck) {
    guard check.group?.add(result, of: child.id) == true, let group = check.group else { return }
    check.group = nil
    complete(check, group.combined(check.result(.cancelled, now)))
  }

  /// Ends the checks of the addresses before they have results.
  func endGroup(_ check: ProberCheck) {
    guard let group = check.group else { return }
    check.group = nil
    for id in group.checks {
      if let child = checks[id] { conclude(child, .cancelled) }
    }
  }
}
