import OpenCoreData
import ProfileEvents

extension Session {
  /// Inserts objects and holds them under the step's name.
  ///
  /// The context holds them until they are saved.
  func insert(_ step: Step, in context: NSManagedObjectContext) throws -> String {
    let count = step.number(of: .times) ?? 1
    var objects: [NSManagedObject] = []
    for index in 0..<count {
      try interruption.check()
      let object = NSEntityDescription.insertNewObject(
        forEntityName: step.subject, into: context)
      assign(step, to: object, at: index)
      objects.append(object)
    }
    if let name = step.name {
      held[name] = HeldResult(content: .objects(objects), entity: step.subject, fetch: nil)
    }
    let head = step.name.map { "\($0): " } ?? ""
    return "\(head)\(NumberText.grouped(count)) \(step.subject) inserted"
  }

  /// Sets properties of each object of a result.
  func set(_ step: Step) throws -> String {
    guard let result = held[step.subject] else { return "" }
    let range = step.part(of: result.count)
    var index = 0
    try result.forEach(in: range) { object in
      try interruption.check()
      assign(step, to: object, at: index)
      index += 1
    }
    return "set \(NumberText.counted(step.assignments.count, "property", "properties")) of "
      + NumberText.counted(range.count, "object")
  }

  /// Deletes each object of a result; the name keeps holding them.
  func delete(_ step: Step, in context: NSManagedObjectContext) throws -> String {
    guard let result = held[step.subject] else { return "" }
    let range = step.part(of: result.count)
    try result.forEach(in: range) { object in
      try interruption.check()
      context.delete(object)
    }
    return "\(NumberText.counted(range.count, "object")) marked as deleted"
  }

  /// Saves the context.
  func save(_ step: Step, in context: NSManagedObjectContext) throws -> String {
    context.processPendingChanges()
    let counts = [
      (context.insertedObjects.count, "inserted"), (context.updatedObjects.count, "updated"),
      (context.deletedObjects.count, "deleted"),
    ]
    try context.save(file: step.location.file, line: step.location.line)
    let words = counts.filter { $0.0 > 0 }.map { "\(NumberText.grouped($0.0)) \($0.1)" }
    return words.isEmpty ? "nothing to save" : "saved: \(words.joined(separator: ", "))"
  }

  /// Throws unsaved changes away.
  func rollback(in context: NSManagedObjectContext) -> String {
    let count = context.insertedObjects.union(context.updatedObjects)
      .union(context.deletedObjects).count
    context.rollback()
    return "changes of \(NumberText.counted(count, "object")) thrown away"
  }

  /// Gives an object the step's values; the objects of a named result go round.
  private func assign(_ step: Step, to object: NSManagedObject, at index: Int) {
    for assignment in step.assignments {
      let property = object.entity.propertiesByName[assignment.key]
      if let attribute = property as? NSAttributeDescription {
        let literal = AttributeLiteral(attribute.attributeType)
        object.setValue(literal.value(of: assignment.value), forKey: assignment.key)
      } else {
        let destination = held[assignment.value]?.object(cycling: index)
        object.setValue(destination, forKey: assignment.key)
      }
    }
  }
}

extension Step {
  fileprivate var assignments: [Assignment] {
    if case .assignments(let assignments)? = option(.assignments) { return assignments }
    return []
  }
}
