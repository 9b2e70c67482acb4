import OpenCoreData
import ProfileEvents
import ScenarioLanguage
import WorkbenchText

extension Session {
  /// Runs a batch insert request.
  func batchInsert(_ step: Step, _ input: StepInput) throws -> String {
    let row = values(of: step)
    let rows = Array(repeating: row, count: step.number(of: .times) ?? 1)
    let request = NSBatchInsertRequest(entityName: step.subject, objects: rows)
    request.resultType = step.name == nil ? .count : .objectIDs
    let result = try execute(request, step, input) as? NSBatchInsertResult
    return finish(step, input, result?.result, key: NSInsertedObjectIDsKey, "inserted")
  }

  /// Runs a batch update request.
  func batchUpdate(_ step: Step, _ input: StepInput) throws -> String {
    let request = NSBatchUpdateRequest(entityName: step.subject)
    request.predicate = try step.request(for: NSManagedObject.self).predicate
    if let flag = step.flag(of: .subentities) {
      request.includesSubentities = flag
    }
    request.propertiesToUpdate = values(of: step)
    request.resultType =
      step.name == nil ? .updatedObjectsCountResultType : .updatedObjectIDsResultType
    let result = try execute(request, step, input) as? NSBatchUpdateResult
    return finish(step, input, result?.result, key: NSUpdatedObjectIDsKey, "updated")
  }

  /// Runs a batch delete request.
  func batchDelete(_ step: Step, _ input: StepInput) throws -> String {
    let request = NSBatchDeleteRequest(fetchRequest: try step.request(for: NSManagedObject.self))
    request.resultType = step.name == nil ? .resultTypeCount : .resultTypeObjectIDs
    let result = try execute(request, step, input) as? NSBatchDeleteResult
    return finish(step, input, result?.result, key: NSDeletedObjectIDsKey, "deleted")
  }

  private func execute(
    _ request: NSPersistentStoreRequest, _ step: Step, _ input: StepInput
  ) throws -> NSPersistentStoreResult {
    try input.context.execute(request, file: step.location.file, line: step.location.line)
  }

  /// Keeps the object IDs as a result with the step's name, and returns a summary with their
  /// number.
  private func finish(
    _ step: Step, _ input: StepInput, _ result: Any?, key: String, _ deed: String
  ) -> String {
    let ids = result as? [NSManagedObjectID] ?? []
    if let name = step.name {
      let rows = HeldResult(
        content: .rows(key: key, ids), entity: step.subject, context: input.contextName)
      hold(rows, as: name)
    }
    let count = result as? Int ?? ids.count
    let head = step.name.map { "\($0): " } ?? ""
    return "\(head)\(NumberText.grouped(count)) \(step.subject) \(deed)"
  }

  /// Returns the step's values by attribute name.
  private func values(of step: Step) -> [String: Any] {
    let entity = model.entitiesByName[step.subject]
    return step.assignments.reduce(into: [:]) { values, assignment in
      guard let attribute = entity?.attributesByName[assignment.key] else { return }
      let literal = AttributeLiteral(attribute.attributeType)
      values[assignment.key] = literal.value(of: assignment.value) ?? NSNull()
    }
  }
}
