import OpenCoreData
import ProfileEvents
import ScenarioLanguage
import WorkbenchText

extension Session {
  /// Inserts objects and keeps them as a result with the step's name.
  ///
  /// The context retains them until they're saved.
  ///
  /// - Throws: An `NSError` if the limits of unsaved objects are exceeded, or if the step is
  ///   interrupted.
  func insert(_ step: Step, _ input: StepInput) throws -> String {
    let count = step.number(of: .times) ?? 1
    try countUnsaved(count, step)
    var objects: [NSManagedObject] = []
    for index in 0..<count {
      try interruption.check()
      let object = NSEntityDescription.insertNewObject(
        forEntityName: step.subject, into: input.context)
      assign(step, input, to: object, at: index)
      objects.append(object)
    }
    if let name = step.name {
      let result = NamedResult(
        content: .objects(objects), entity: step.subject, context: input.contextName)
      keep(result, as: name)
    }
    let head = step.name.map { "\($0): " } ?? ""
    return "\(head)\(NumberText.grouped(count)) \(step.subject) inserted"
  }

  /// Adds the objects that a step inserts to those that were inserted since no context had changes.
  ///
  /// - Throws: An `NSError` if they're more, or larger, than allowed.
  private func countUnsaved(_ count: Int, _ step: Step) throws {
    // Each step ends after the contexts have completed their work, so none changes now.
    if !stack.contexts.contains(where: { $0.context.hasChanges }) { unsaved = (0, 0) }
    let properties = model.entitiesByName[step.subject]?.propertiesByName.count ?? 0
    let texts = step.assignments.reduce(0) { $0 + $1.value.utf8.count }
    let objects = unsaved.objects + count
    let size = unsaved.size + count * (16 * properties + texts)
    guard objects <= InputLimits.times, size <= InputLimits.unsavedSize else {
      let limit =
        objects > InputLimits.times
        ? NumberText.grouped(InputLimits.times) : "\(InputLimits.unsavedSize >> 20) MB of values"
      throw StepInput.error(
        "There would be \(NumberText.grouped(objects)) inserted objects that aren't saved, and the "
          + "limit is \(limit). Save in between, or generate rows with `data` and --scale.")
    }
    unsaved = (objects, size)
  }

  /// Sets properties of each object of a result.
  func set(_ step: Step, _ input: StepInput) throws -> String {
    let range = step.part(of: input.objects.count)
    var index = 0
    try input.objects.forEach(at: range, in: input.context) { object in
      try interruption.check()
      assign(step, input, to: object, at: index)
      index += 1
    }
    return "set \(NumberText.counted(step.assignments.count, "property", "properties")) of "
      + NumberText.counted(range.count, "object")
  }

  /// Deletes each object of a result, which keeps its references to them.
  func delete(_ step: Step, _ input: StepInput) throws -> String {
    let range = step.part(of: input.objects.count)
    try input.objects.forEach(at: range, in: input.context) { object in
      try interruption.check()
      input.context.delete(object)
    }
    return "\(NumberText.counted(range.count, "object")) marked for deletion"
  }

  /// Saves the context, and keeps the did-save notification as a result with the step's name.
  func save(_ step: Step, _ input: StepInput) throws -> String {
    let context = input.context
    context.processPendingChanges()
    let deleted = context.deletedObjects
    // An object that was changed before it was deleted is in both sets.
    let updated = context.updatedObjects.subtracting(deleted)
    let counts = [
      (context.insertedObjects.count, "inserted"), (updated.count, "updated"),
      (deleted.count, "deleted"),
    ]
    if let name = step.name {
      let notification = try notificationOfSave(step, context)
      let result = NamedResult(
        content: .save(notification), entity: "", context: input.contextName)
      keep(result, as: name)
    } else {
      try context.save(file: step.location.file, line: step.location.line)
    }
    let words = counts.filter { $0.0 > 0 }.map { "\(NumberText.grouped($0.0)) \($0.1)" }
    return words.isEmpty ? "nothing to save" : "saved: \(words.joined(separator: ", "))"
  }

  private func notificationOfSave(
    _ step: Step, _ context: NSManagedObjectContext
  ) throws -> Notification? {
    nonisolated(unsafe) var notification: Notification?
    // The notification is posted during the save, on the current queue.
    let token = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextDidSave, object: context, queue: nil
    ) { notification = $0 }
    defer { NotificationCenter.default.removeObserver(token) }
    try context.save(file: step.location.file, line: step.location.line)
    // A save without changes posts empty sets.
    let keys = [NSInsertedObjectsKey, NSUpdatedObjectsKey, NSDeletedObjectsKey]
    let hasSaved = keys.contains {
      (notification?.userInfo?[$0] as? Set<NSManagedObject>)?.isEmpty == false
    }
    return hasSaved ? notification : nil
  }

  /// Discards unsaved changes.
  func rollback(in context: NSManagedObjectContext) -> String {
    let count = context.insertedObjects.union(context.updatedObjects)
      .union(context.deletedObjects).count
    context.rollback()
    return "changes of \(NumberText.counted(count, "object")) discarded"
  }

  /// Undoes or redoes groups of changes, and returns how many there were.
  func undo(_ step: Step, in context: NSManagedObjectContext) -> String {
    let redoes = step.flag(of: .redo) ?? false
    let times = step.number(of: .times) ?? 1
    var count = 0
    while count < times {
      context.processPendingChanges()
      guard let manager = context.undoManager, redoes ? manager.canRedo : manager.canUndo else {
        break
      }
      if redoes { context.redo() } else { context.undo() }
      count += 1
    }
    return NumberText.counted(count, "group") + (redoes ? " redone" : " undone")
  }

  /// Assigns the step's values to an object, cycling through the objects of a named result.
  private func assign(_ step: Step, _ input: StepInput, to object: NSManagedObject, at index: Int) {
    for assignment in step.assignments {
      let property = object.entity.propertiesByName[assignment.key]
      if let attribute = property as? NSAttributeDescription {
        let literal = AttributeLiteral(attribute.attributeType)
        object.setValue(literal.value(of: assignment), forKey: assignment.key)
      } else {
        let destination = input.named[assignment.value]?
          .object(cycling: index, in: input.context)
        object.setValue(destination, forKey: assignment.key)
      }
    }
  }
}

extension Session {
  /// Runs a batch insert request.
  func batchInsert(_ step: Step, _ input: StepInput) throws -> String {
    let row = try values(of: step)
    let rows = Array(repeating: row, count: step.number(of: .times) ?? 1)
    let request = NSBatchInsertRequest(entityName: step.subject, objects: rows)
    request.resultType = step.name == nil ? .count : .objectIDs
    let result = try execute(request, step, input) as? NSBatchInsertResult
    return finish(step, input, result?.result, key: NSInsertedObjectIDsKey, "inserted")
  }

  /// Runs a batch update request.
  func batchUpdate(_ step: Step, _ input: StepInput) throws -> String {
    let request = NSBatchUpdateRequest(entityName: step.subject)
    request.predicate = try input.predicate(of: step)
    if let flag = step.flag(of: .subentities) {
      request.includesSubentities = flag
    }
    request.propertiesToUpdate = try values(of: step)
    request.resultType =
      step.name == nil ? .updatedObjectsCountResultType : .updatedObjectIDsResultType
    let result = try execute(request, step, input) as? NSBatchUpdateResult
    return finish(step, input, result?.result, key: NSUpdatedObjectIDsKey, "updated")
  }

  /// Runs a batch delete request.
  func batchDelete(_ step: Step, _ input: StepInput) throws -> String {
    let request = NSBatchDeleteRequest(
      fetchRequest: try step.request(for: NSManagedObject.self, input))
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
    _ step: Step, _ input: StepInput, _ result: Any?, key: String, _ action: String
  ) -> String {
    let ids = result as? [NSManagedObjectID] ?? []
    if let name = step.name {
      let rows = NamedResult(
        content: .rows(key: key, ids), entity: step.subject, context: input.contextName)
      keep(rows, as: name)
    }
    let count = result as? Int ?? ids.count
    let head = step.name.map { "\($0): " } ?? ""
    return "\(head)\(NumberText.grouped(count)) \(step.subject) \(action)"
  }

  /// Returns the step's values by attribute name.
  ///
  /// - Throws: A `PredicateSyntaxError` if an expression can't be parsed.
  private func values(of step: Step) throws -> [String: Any] {
    let entity = model.entitiesByName[step.subject]
    var values: [String: Any] = [:]
    for assignment in step.assignments {
      guard let attribute = entity?.attributesByName[assignment.key] else { continue }
      if assignment.isExpression {
        values[assignment.key] = try NSExpression.parse(assignment.value, arguments: [])
      } else {
        let literal = AttributeLiteral(attribute.attributeType)
        values[assignment.key] = literal.value(of: assignment) ?? NSNull()
      }
    }
    return values
  }
}
