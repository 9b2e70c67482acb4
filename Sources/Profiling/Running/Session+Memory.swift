import OpenCoreData
import ScenarioLanguage
import WorkbenchText

extension Session {
  /// Turns each object of a result back into a fault.
  func refresh(_ step: Step, _ input: StepInput) throws -> String {
    var keepsChanges = true
    if case .keep(let flag)? = step.option(.keep) { keepsChanges = flag }
    let range = step.part(of: input.objects.count)
    try input.objects.forEach(at: range, in: input.context) { object in
      try interruption.check()
      input.context.refresh(object, mergeChanges: keepsChanges)
    }
    return "refreshed \(NumberText.counted(range.count, "object"))"
  }

  /// Lets a named result go, or a context with everything that is its own.
  func drop(_ step: Step) -> String {
    if stack.shapes[step.subject] != nil {
      letGo(ofContext: step.subject)
      stack.remove(step.subject)
    } else {
      letGo(of: step.subject)
    }
    return "\(step.subject) let go"
  }

  /// Lets every name, object and unsaved change of a context go; the coordinator stays.
  func letGo(_ input: StepInput) -> String {
    letGo(ofContext: input.contextName)
    return "every object let go"
  }
}
