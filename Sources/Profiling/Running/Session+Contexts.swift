import OpenCoreData
import ScenarioLanguage

extension Session {
  /// Creates or changes a context.
  func makeContext(_ step: Step) throws -> String {
    let known = stack.shapes[step.subject]
    try stack.set(
      ContextShape(step, known: known, among: stack.shapes), for: step.subject)
    return "\(step.subject) " + (known == nil ? "created" : "changed")
  }

  /// Merges changes that were saved elsewhere into a context.
  ///
  /// **Cost:** none for a did-save notification; by object IDs, one SELECT for each entity with
  /// registered objects.
  func merge(_ step: Step, into context: NSManagedObjectContext) -> String {
    guard let result = namedResults[step.subject] else { return "" }
    let isRemote = step.flag(of: .remote) ?? false
    switch result.content {
    case .save(nil): return "nothing was saved, so there's nothing to merge"
    case .save(let notification?):
      guard isRemote else {
        context.mergeChanges(fromContextDidSave: notification)
        return "merged \(step.subject)"
      }
      mergeIDs(of: notification, from: result.context, into: context)
    case .rows(let key, let ids):
      NSManagedObjectContext.mergeChanges(
        fromRemoteContextSave: [key: ids.map { $0.uriRepresentation() }], into: [context])
    default: return ""
    }
    return "merged \(step.subject) by object ID"
  }

  /// Merges a save by its object IDs only, like a save of another process.
  private func mergeIDs(
    of notification: Notification, from source: String, into context: NSManagedObjectContext
  ) {
    let keys = [
      NSInsertedObjectsKey: NSInsertedObjectIDsKey, NSUpdatedObjectsKey: NSUpdatedObjectIDsKey,
      NSDeletedObjectsKey: NSDeletedObjectIDsKey,
    ]
    let changes = stack.context(source).performAndWait {
      keys.reduce(into: [String: [URL]]()) { changes, key in
        let objects = notification.userInfo?[key.key] as? Set<NSManagedObject> ?? []
        changes[key.value] = objects.map { $0.objectID.uriRepresentation() }
      }
    }
    NSManagedObjectContext.mergeChanges(fromRemoteContextSave: changes, into: [context])
  }

  /// Pins a context to a query generation, or unpins it.
  func pin(_ step: Step, _ context: NSManagedObjectContext) throws -> String {
    let word = step.text(of: .to) ?? "current"
    switch word {
    case "current": try context.setQueryGenerationFrom(.current)
    case "none":
      try context.setQueryGenerationFrom(nil)
      return "unpinned"
    default:
      let other = stack.context(word)
      guard let token = other.performAndWait({ other.queryGenerationToken }) else {
        throw StepInput.error("`\(word)` isn't pinned. Pin it first with `pin in \(word)`.")
      }
      try context.setQueryGenerationFrom(token)
    }
    return "pinned to \(word)"
  }
}
