internal import EventLoop

extension WriterThread {
  /// Ends the start after what was handed over before is committed, which reads the last samples.
  func endStart() {
    guard isStartOver.isSet else { return }
    isStartOver.clear()
    onDisk { files.configuration.start?.end(logger) }
  }

  /// When ``refreshNotices()`` has something to do.
  var noticeDeadline: MonotonicInstant? { files.notices.lines.isEmpty ? nil : noticeAt }

  /// Looks whether an operator has acknowledged the databases that were set aside.
  func refreshNotices() {
    guard let noticeDeadline, MonotonicInstant.now >= noticeDeadline else { return }
    noticeAt = MonotonicInstant.now.advanced(by: Limits.noticeInterval)
    onDisk { files.notices.refresh(logger) }
  }

  /// Uses the disk, which events do not wait for if it does not respond.
  private func onDisk(_ body: () -> Void) {
    queue.setOnDisk(true)
    setStallTimer()
    body()
    queue.setOnDisk(false)
  }
}
