import ReachabilityModel

/// A target of an active check as text: what is taken is written as it can be read again.
enum ProbeTargetTarget {
  static func play(_ bytes: [UInt8]) {
    let text = String(decoding: bytes, as: UTF8.self)
    do throws(TargetError) {
      let target = try CheckTarget(text)
      do throws(TargetError) {
        let again = try CheckTarget(target.description)
        precondition(again == target, "\(text.debugDescription) became \(target.description.debugDescription)")
      } catch {
        preconditionFailure("\(target.description.debugDescription) cannot be read again: \(error)")
      }
    } catch {
      precondition(!"\(error)".isEmpty, "a complaint says something")
    }
  }
}
