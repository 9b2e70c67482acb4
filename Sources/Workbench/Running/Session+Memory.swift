import OpenCoreData

extension Session {
  /// Turns each object of a result back into a fault.
  func refresh(_ step: Step, in context: NSManagedObjectContext) throws -> String {
    guard let result = held[step.subject] else { return "" }
    var keepsChanges = true
    if case .keep(let flag)? = step.option(.keep) { keepsChanges = flag }
    let range = step.part(of: result.count)
    try result.forEach(in: range) { object in
      try interruption.check()
      context.refresh(object, mergeChanges: keepsChanges)
    }
    return "refreshed \(NumberText.counted(range.count, "object"))"
  }

  /// Lets a named result go.
  func drop(_ step: Step) -> String {
    held[step.subject] = nil
    return "\(step.subject) let go"
  }

  /// Lets every name, every object and every unsaved change go; the coordinator stays.
  func letGo(in context: NSManagedObjectContext) -> String {
    held = [:]
    context.reset()
    return "every object let go"
  }
}
