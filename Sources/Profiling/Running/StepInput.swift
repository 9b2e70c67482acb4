import OpenCoreData
import ScenarioLanguage

/// What a step is given beside its words: the context it runs in, and the results it names.
struct StepInput {
  let context: NSManagedObjectContext
  /// The context's name.
  let contextName: String
  /// The objects of the step's subject; empty when it has none.
  let objects: StepObjects
  /// The results that its assignments name.
  let named: [String: StepObjects]
}

extension Session {
  /// What a step is given, before its block begins: objects of other contexts become IDs here, on their
  /// own queues.
  ///
  /// - Throws: an `NSError` for objects that the step's context cannot know.
  func input(of step: Step) throws -> StepInput {
    let name = knownNames.context(of: step)
    var named: [String: StepObjects] = [:]
    for value in (step.assignments + step.removals).map(\.value) {
      guard let result = held[value] else { continue }
      named[value] = try objects(of: result, called: value, in: name)
    }
    let subject = try held[step.subject].map {
      try objects(of: $0, called: step.subject, in: name)
    }
    return StepInput(
      context: stack.context(name), contextName: name, objects: subject ?? .objects([]),
      named: named)
  }

  private func objects(
    of result: HeldResult, called name: String, in context: String
  ) throws -> StepObjects {
    switch result.content {
    case .save, .dictionaries: return .objects([])
    case .ids(let ids), .rows(_, let ids): return .ids(try adopt(ids, of: result, in: context))
    case .objects(let objects) where result.context == context: return .objects(objects)
    case .batched(let objects) where result.context == context: return .batched(objects)
    case .objects(let objects):
      let ids = stack.context(result.context).performAndWait { objects.map(\.objectID) }
      guard
        ids.allSatisfy({ !$0.isTemporaryID }) || knownNames.contains(context, in: result.context)
      else {
        throw StepInput.error(
          "`\(name)` has objects that were never saved; the context `\(context)` cannot know them. "
            + "Save them first.")
      }
      return .ids(try adopt(ids, of: result, in: context))
    case .batched:
      throw StepInput.error(
        "`\(name)` is read in batches, which belong to the context `\(result.context)`. Fetch it in "
          + "`\(context)`, or fetch IDs.")
    }
  }

  /// IDs as a context of another coordinator names the same rows.
  private func adopt(
    _ ids: [NSManagedObjectID], of result: HeldResult, in context: String
  ) throws -> [NSManagedObjectID] {
    let (from, to) = (stack.shapes[result.context], stack.shapes[context])
    guard from?.coordinator != to?.coordinator,
      let coordinator = stack.context(context).persistentStoreCoordinator
    else { return ids }
    return ids.compactMap {
      coordinator.managedObjectID(forURIRepresentation: $0.uriRepresentation())
    }
  }
}

extension StepInput {
  /// An error of a step that cannot be carried out.
  static func error(_ message: String) -> NSError {
    NSError(
      domain: NSCocoaErrorDomain, code: NSCoreDataError,
      userInfo: [NSLocalizedDescriptionKey: message])
  }
}
