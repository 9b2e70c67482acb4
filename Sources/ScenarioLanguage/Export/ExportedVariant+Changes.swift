import ManagedModel
import ModelCode

extension ExportedVariant {
  /// The code for the assignments of `with`.
  struct Assignments {
    /// The lines for each object.
    ///
    /// They use `object` and, to cycle through objects, `position`.
    var lines: [String] = []
    /// The lines at the beginning of the block.
    var unwrapping: [String] = []
    var usesPosition = false
  }

  /// Returns the assignments of a step as lines for each object.
  func assignments(
    of step: Step, _ context: String, entity: NSEntityDescription?
  ) -> Assignments {
    step.assignments.reduce(into: Assignments()) { result, assignment in
      let key = SwiftNames.literal(assignment.key)
      if let attribute = entity?.attributesByName[assignment.key] {
        let value = ExportedVariant.literal(assignment, of: attribute)
        result.lines.append("object.setValue(\(value), forKey: \(key))")
      } else if assignment.isNil, variables[assignment.value] == nil {
        result.lines.append("object.setValue(nil, forKey: \(key))")
      } else {
        let elements = elements(of: assignment.value, in: known.context(of: step))
        result.unwrapping += elements.unwrapping
        result.usesPosition = true
        let element = "cycling(\(elements.list), position)"
        let value = elements.isIDs ? "\(element).map(\(context).object(with:))" : element
        result.lines.append("object.setValue(\(value), forKey: \(key))")
      }
    }
  }

  /// Returns the code that inserts objects and keeps them under the step's name.
  mutating func insert(_ step: Step, _ context: String) -> Body {
    let assignments = assignments(of: step, context, entity: entity(of: step))
    let times = step.number(of: .times) ?? 1
    let target = step.name.map { variable($0, .objects, of: step).identifier }
    var body = Body()
    if target != nil { body.lines.append("var made: [NSManagedObject] = []") }
    body.lines.append("for \(assignments.usesPosition ? "position" : "_") in 0..<\(times) {")
    let name = SwiftNames.literal(step.subject)
    let isUsed = target != nil || !assignments.lines.isEmpty
    var inner = [
      "\(isUsed ? "let object" : "_") = NSEntityDescription.insertNewObject(",
      "  forEntityName: \(name), into: \(context))",
    ]
    inner += assignments.lines
    if target != nil { inner.append("made.append(object)") }
    body.lines += inner.map { "  \($0)" } + ["}"]
    if let target { body.lines.append("\(target) = made") }
    body.unwrap(assignments.unwrapping)
    return body
  }

  /// Returns the code that adds objects to to-many relationships and removes objects from them.
  func relate(_ step: Step, _ context: String) -> Body {
    let entity = entity(of: step)
    let owners = elements(of: step.subject, in: known.context(of: step))
    var unwrapping: [String] = []
    var inner: [String] = []
    for (pairs, call) in [(step.assignments, "add"), (step.removals, "remove")] {
      for pair in pairs {
        let others = elements(of: pair.value, in: known.context(of: step))
        unwrapping += others.unwrapping
        let isOrdered = entity?.relationshipsByName[pair.key]?.isOrdered == true
        let proxy = "mutable\(isOrdered ? "Ordered" : "")SetValue"
        let key = SwiftNames.literal(pair.key)
        let element = "\(others.list)[other]"
        let value = others.isIDs ? "\(context).object(with: \(element))" : element
        inner += [
          "for other in stride(from: position, to: \(others.list).count, by: owners) {",
          "  object.\(proxy)(forKey: \(key)).\(call)(\(value))", "}",
        ]
      }
    }
    var body = work(on: step, context, counting: true) { inner }
    let isPart = step.option(.limit) != nil || step.option(.offset) != nil
    let count = isPart ? "range.count" : "\(owners.list).count"
    let loop = body.lines.firstIndex { $0.hasPrefix("for ") } ?? 0
    body.lines.insert("let owners = \(count)", at: loop)
    body.unwrap(unwrapping)
    return body
  }

  /// Returns the code for a batch request, whose object IDs are kept under the step's name.
  mutating func batch(_ step: Step, _ context: String) -> Body {
    let name = SwiftNames.literal(step.subject)
    let isNamed = step.name != nil
    let references = references(of: step, context)
    var lines: [String]
    let (result, key): (String, String)
    switch step.verb {
    case .batchInsert:
      let times = step.number(of: .times) ?? 1
      lines = [
        "let row: [String: Any] = \(values(of: step))",
        "let request = NSBatchInsertRequest(",
        "  entityName: \(name), objects: Array(repeating: row, count: \(times)))",
        "request.resultType = \(isNamed ? ".objectIDs" : ".count")",
      ]
      (result, key) = ("NSBatchInsertResult", "NSInsertedObjectsKey")
    case .batchUpdate:
      lines = references.lines + ["let request = NSBatchUpdateRequest(entityName: \(name))"]
      if let predicate = step.predicateSwift(value: references.value) {
        lines.append("request.predicate = \(predicate)")
      }
      if let flag = step.flag(of: .subentities) {
        lines.append("request.includesSubentities = \(flag)")
      }
      lines += [
        "let values: [String: Any] = \(values(of: step))", "request.propertiesToUpdate = values",
        "request.resultType = "
          + (isNamed ? ".updatedObjectIDsResultType" : ".updatedObjectsCountResultType"),
      ]
      (result, key) = ("NSBatchUpdateResult", "NSUpdatedObjectsKey")
    default:
      lines =
        references.lines
        + step.requestLines(
          of: "any NSFetchRequestResult", named: "fetch", value: references.value)
      lines += [
        "let request = NSBatchDeleteRequest(fetchRequest: fetch)",
        "request.resultType = \(isNamed ? ".resultTypeObjectIDs" : ".resultTypeCount")",
      ]
      (result, key) = ("NSBatchDeleteResult", "NSDeletedObjectsKey")
    }
    guard let stepName = step.name else {
      return Body(lines: lines + ["_ = try \(context).execute(request)"], throws: true)
    }
    let target = variable(stepName, .ids, key: key, of: step).identifier
    lines += [
      "let result = try \(context).execute(request) as? \(result)",
      "\(target) = result?.result as? [NSManagedObjectID] ?? []",
    ]
    return Body(lines: lines, throws: true)
  }

  /// Returns a dictionary literal of the step's values by attribute name.
  private func values(of step: Step) -> String {
    let entity = entity(of: step)
    let pairs = step.assignments.compactMap { assignment -> String? in
      guard let attribute = entity?.attributesByName[assignment.key] else { return nil }
      let key = SwiftNames.literal(assignment.key)
      if assignment.isExpression {
        return "\(key): NSExpression(format: \(SwiftNames.literal(assignment.value)))"
      }
      let value = ExportedVariant.literal(assignment, of: attribute)
      if value == "nil" { return "\(key): NSNull()" }
      // The initializers of URLs and UUIDs return optional values.
      let isOptional = [.URIAttributeType, .UUIDAttributeType].contains(attribute.attributeType)
      return "\(key): \(value)" + (isOptional ? " as Any" : "")
    }
    return pairs.isEmpty ? "[:]" : "[\(pairs.joined(separator: ", "))]"
  }

  private static func literal(
    _ assignment: Assignment, of attribute: NSAttributeDescription
  ) -> String {
    let type = attribute.attributeType
    return SwiftLiteral.value(AttributeLiteral(type).value(of: assignment), of: type)
  }
}
