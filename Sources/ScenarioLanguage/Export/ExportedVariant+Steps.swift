import ManagedModel
import ModelCode

extension ExportedVariant {
  /// Writes a step that runs in a block of its context.
  mutating func perform(_ step: Step) {
    let context = contexts[known.context(of: step)] ?? "main"
    if step.verb == .merge { return merge(step, into: context) }
    let before = variables
    let body = body(of: step, context)
    let block: (inout SwiftLines) -> Void = { lines in
      lines.block("\(body.throws ? "try " : "")step(\(context))") { $0.add(body.lines) }
    }
    if let code = step.fails {
      lines.block("failing(\(code), \(SwiftNames.literal("\(step.location)")))", block)
      // A step that fails has no result, so each name keeps the one that it has.
      variables = before
    } else {
      block(&lines)
      lines.add(releases)
    }
    releases = []
  }

  /// The lines of a step's block.
  struct Body {
    var lines: [String] = []
    var `throws` = false

    /// Inserts lines at the beginning, without duplicates.
    mutating func unwrap(_ more: [String]) {
      let new = more.reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
      lines = new + lines.filter { !new.contains($0) }
    }
  }

  private mutating func body(of step: Step, _ context: String) -> Body {
    switch step.verb {
    case .fetch: return fetch(step, context)
    case .count: return Body(lines: count(step, context), throws: true)
    case .touch:
      let reads = step.reads.map { "read(object, \(ExportedVariant.keys($0)))" }
      return work(on: step, context) { reads }
    case .walk:
      let walks = step.reads.map { "walk(object, \(ExportedVariant.keys($0)))" }
      return work(on: step, context) { walks.isEmpty ? ["_ = object"] : walks }
    case .insert: return insert(step, context)
    case .set:
      let assignments = assignments(of: step, context, entity: entity(of: step))
      var body = work(on: step, context, counting: assignments.usesPosition) { assignments.lines }
      body.unwrap(assignments.unwrapping)
      return body
    case .relate: return relate(step, context)
    case .delete: return work(on: step, context) { ["\(context).delete(object)"] }
    case .refresh:
      let keeps = step.flag(of: .keep) ?? true
      return work(on: step, context) { ["\(context).refresh(object, mergeChanges: \(keeps))"] }
    case .save:
      guard let name = step.name else {
        return Body(lines: ["try \(context).save()"], throws: true)
      }
      let variable = variable(name, .save, of: step)
      return Body(
        lines: ["\(variable.identifier) = try notificationOfSave(\(context))"], throws: true)
    case .rollback: return Body(lines: ["\(context).rollback()"])
    case .pin: return Body(lines: pin(step, context), throws: true)
    case .batchInsert, .batchUpdate, .batchDelete: return batch(step, context)
    case .results, .undo, .drop, .reset, .context, .merge, .index, .sql, .pragma, .analyze,
      .history, .migrate, .finishMigration:
      return Body()
    }
  }

  private mutating func fetch(_ step: Step, _ context: String) -> Body {
    let (type, kind): (String, Kind)
    switch step.resultKind {
    case .count: return Body(lines: count(step, context), throws: true)
    case .ids: (type, kind) = ("NSManagedObjectID", .ids)
    case .dictionaries: (type, kind) = ("NSDictionary", .dictionaries)
    case .objects:
      (type, kind) = ("NSManagedObject", (step.number(of: .batch) ?? 0) > 0 ? .batches : .objects)
    }
    let references = references(of: step, context)
    let target = step.name.map { variable($0, kind, of: step).identifier } ?? "_"
    let call =
      kind == .batches ? "fetchBatches(request, in: \(context))" : "\(context).fetch(request)"
    let request = step.requestLines(of: type, value: references.value)
    return Body(
      lines: references.lines + request + ["\(target) = try \(call)"], throws: true)
  }

  private func count(_ step: Step, _ context: String) -> [String] {
    let references = references(of: step, context)
    return references.lines
      + step.requestLines(of: "NSManagedObject", value: references.value)
      + ["_ = try \(context).count(for: request)"]
  }

  /// Returns the lines before a request whose predicate refers to results, and a closure that
  /// returns the value of a reference.
  func references(
    of step: Step, _ context: String
  ) -> (lines: [String], value: (ResultReference) -> String) {
    var lines: [String] = []
    var values: [ResultReference: String] = [:]
    for reference in step.predicateReferences where values[reference] == nil {
      let elements = elements(of: reference.name, in: known.context(of: step))
      let identifier = variables[reference.name]?.identifier ?? reference.name
      let name = identifier + (reference.isList ? "List" : "Object")
      let list = elements.isIDs ? "\(elements.list).map(\(context).object(with:))" : elements.list
      let made =
        reference.isList
        ? "let \(name) = \(list).map { $0 }"
        : "guard let \(name) = cycling(\(list), 0) else { return }"
      for line in elements.unwrapping + [made] where !lines.contains(line) { lines.append(line) }
      values[reference] = name
    }
    return (lines, { values[$0] ?? $0.name })
  }

  /// Returns the keys of a key path as arguments.
  private static func keys(_ keyPath: String) -> String {
    keyPath.split(separator: ".").map { SwiftNames.literal(String($0)) }.joined(separator: ", ")
  }

  /// Returns the entity of a step's objects.
  func entity(of step: Step) -> NSEntityDescription? {
    let name =
      step.verb.subject == .entity ? step.subject : known.results[step.subject]?.entity ?? ""
    return model.entitiesByName[name]
  }

  /// Returns the code that does work on each object of a step's subject.
  ///
  /// - Parameters:
  ///   - step: The step.
  ///   - context: The identifier of the step's context.
  ///   - counting: Whether the work uses `position`, the object's index.
  ///   - work: A closure that returns lines that use `object`.
  func work(
    on step: Step, _ context: String, counting: Bool = false, _ work: () -> [String]
  ) -> Body {
    let elements = elements(of: step.subject, in: known.context(of: step))
    var body = Body(lines: elements.unwrapping)
    var list = elements.list
    if step.verb == .walk, step.flag(of: .array) == true {
      body.lines.append("let list = \(list).map { $0 }")
      list = "list"
    }
    var isIDs = elements.isIDs
    if step.verb == .walk, let keys = step.sortKeys(of: .sort) {
      if isIDs { list += ".map { \(context).object(with: $0) }" }
      isIDs = false
      body.lines.append("let ordered = sorted(\(list), by: \(keys.swift))")
      list = "ordered"
    }
    let every = step.number(of: .every) ?? 1
    let isPart = step.option(.limit) != nil || step.option(.offset) != nil || every > 1
    var head = "for \(isIDs ? "id" : "object") in \(list)"
    var inner: [String] = []
    if isPart {
      let (offset, limit) = (step.number(of: .offset) ?? 0, step.number(of: .limit) ?? 0)
      body.lines.append(
        "let range = part(of: \(list).count, offset: \(offset), limit: \(limit))")
      let range =
        every > 1
        ? "stride(from: range.lowerBound, to: range.upperBound, by: \(every))" : "range"
      head = counting ? "for (position, index) in \(range).enumerated()" : "for index in \(range)"
      inner.append("let \(isIDs ? "id" : "object") = \(list)[index]")
    } else if counting {
      head = "for (position, \(isIDs ? "id" : "object")) in \(list).enumerated()"
    }
    if isIDs { inner.append("let object = \(context).object(with: id)") }
    body.lines.append(head + " {")
    body.lines += (inner + work()).map { "  \($0)" }
    body.lines.append("}")
    return body
  }

  /// A result in the form that a step of a context can use.
  struct Elements {
    /// The lines at the beginning of the block.
    var unwrapping: [String] = []
    /// The expression to iterate over.
    var list: String
    var isIDs = false
  }

  /// Returns the objects of a result for a step in a context.
  ///
  /// Objects of another context are passed by object ID.
  func elements(of name: String, in context: String) -> Elements {
    guard let variable = variables[name], let shape = known.results[name] else {
      return Elements(list: "[]")
    }
    let isHere = shape.context == context
    let from = known.contexts[shape.context]?.coordinator
    let adopts = from != known.contexts[context]?.coordinator
    let here = contexts[context] ?? "main"
    let there = contexts[shape.context] ?? "main"
    switch variable.kind {
    case .batches:
      let list = "\(variable.identifier)Batches"
      return Elements(
        unwrapping: ["guard let \(list) = \(variable.identifier) else { return }"], list: list)
    case .objects where isHere: return Elements(list: variable.identifier)
    case .objects:
      let ids = "ids(of: \(variable.identifier), in: \(there))"
      let list = "\(variable.identifier)IDs"
      let made = adopts ? "adopt(\(ids), for: \(here))" : ids
      return Elements(unwrapping: ["let \(list) = \(made)"], list: list, isIDs: true)
    case .ids, .dictionaries, .save:
      guard adopts else { return Elements(list: variable.identifier, isIDs: true) }
      let list = "\(variable.identifier)IDs"
      return Elements(
        unwrapping: ["let \(list) = adopt(\(variable.identifier), for: \(here))"], list: list,
        isIDs: true)
    }
  }
}
