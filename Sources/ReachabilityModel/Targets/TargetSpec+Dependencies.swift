extension TargetSpec {
  /// The faults of the entries of `dependsOn` alone; whether the parents exist is known only with all targets.
  func dependencyFaults() -> [Fault] {
    func fault(_ problem: String, _ hint: String) -> Fault { Fault(.dependsOn, problem, hint: hint) }
    if dependsOn.count > Bounds.dependencies {
      return [fault("there are \(dependsOn.count) entries", "at most \(Bounds.dependencies)")]
    }
    var seen: Set<[String]> = []
    return dependsOn.flatMap { entry -> [Fault] in
      let parents = entry.parents
      guard Bounds.alternatives.contains(parents.count) else {
        return [fault("anyOf has \(parents.count) targets", "from 1 to \(Bounds.alternatives.upperBound)")]
      }
      var faults = parents.filter { !Self.isID($0) }.map {
        fault("\($0.shortened) is not an id of a target", "write the id of another target, such as core-router")
      }
      if let id, parents.contains(id) { faults.append(fault("\(id) depends on itself", "name other targets")) }
      if Set(parents).count < parents.count {
        faults.append(fault("anyOf names a target twice", "name each target once"))
      }
      if !seen.insert(parents.sorted()).inserted { faults.append(fault("an entry is repeated", "write it once")) }
      return faults
    }
  }
}
