import OpenCoreData
import ProfileEvents

/// The rule that finds objects which were read as they were before a batch request.
///
/// It fires when a batch update or delete changed rows of an entity, objects of that entity were held
/// in the same context before it, and a later step read them with neither a merge, a refresh nor a reset between.
enum UnmergedBatch: WorkRule {
  static let rule = Finding.Rule.unmergedBatch

  static func findings(in work: FinishedWork) -> [Finding] {
    work.parts.indices.compactMap { place in
      let part = work.parts[place]
      guard part.step.verb == .batchUpdate || part.step.verb == .batchDelete,
        let entity = work.model.entitiesByName[part.step.subject]
      else { return nil }
      let changed = work.events(of: part)
        .filter { $0.statement?.kind == .update || $0.statement?.kind == .delete }
        .reduce(0) { $0 + $1.rows }
      guard changed > 0, let reader = reader(after: place, of: entity, in: work) else { return nil }
      let isDelete = part.step.verb == .batchDelete
      let key = isDelete ? "NSDeletedObjectIDsKey" : "NSUpdatedObjectIDsKey"
      return Finding(
        rule: rule, subject: part.step.subject, count: changed,
        callSite: part.recorded.location,
        what:
          "rows changed beneath objects that were read at line \(reader.recorded.location.line)",
        cure: Cure(swift: [
          "request.resultType = \(isDelete ? ".resultTypeObjectIDs" : ".updatedObjectIDsResultType")",
          "NSManagedObjectContext.mergeChanges(",
          "  fromRemoteContextSave: [\(key): ids], into: [context])",
        ]))
    }
  }

  /// The first step that reads objects held from before a place, as they were.
  private static func reader(
    after place: Int, of entity: NSEntityDescription, in work: FinishedWork
  ) -> FinishedWork.Part? {
    let family = names(of: entity)
    let context = work.parts[place].step.contextName
    var held: Set<String> = []
    for part in work.parts[..<place] where part.step.contextName == context {
      if part.step.verb == .reset { held = [] }
      if part.step.verb == .drop { held.remove(part.step.subject) }
      guard let name = part.step.name else { continue }
      if part.step.verb == .fetch || part.step.verb == .insert, family.contains(part.step.subject) {
        held.insert(name)
      } else {
        held.remove(name)
      }
    }
    for part in work.parts[(place + 1)...] {
      switch part.step.verb {
      case .merge, .reset, .rollback: return nil
      case .refresh, .drop: held.remove(part.step.subject)
      case .touch where held.contains(part.step.subject): return part
      default: if let name = part.step.name { held.remove(name) }
      }
    }
    return nil
  }

  /// The entity with those above and below it, whose rows share a table.
  private static func names(of entity: NSEntityDescription) -> Set<String> {
    var family: Set<String> = []
    var open = [entity]
    while let next = open.popLast() {
      family.insert(next.name ?? "")
      open += next.subentities
    }
    var ancestor = entity.superentity
    while let parent = ancestor {
      family.insert(parent.name ?? "")
      ancestor = parent.superentity
    }
    return family
  }
}

extension Step {
  /// The context it works in.
  fileprivate var contextName: String {
    if case .context(let name)? = option(.context) { name } else { ContextShape.main }
  }
}
