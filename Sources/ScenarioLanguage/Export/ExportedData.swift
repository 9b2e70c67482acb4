import ManagedModel
import ModelCode
import WorkbenchText

/// The rows of a scenario as Swift code that creates the same rows.
struct ExportedData {
  private let model: NSManagedObjectModel
  private let plans: [EntityPlan]
  private let counts: [String: Int]
  private let seed: UInt64

  /// Creates the export of the rows.
  ///
  /// - Throws: A `CountExpressionError` if a count has no value.
  init(
    _ plans: [EntityPlan], of plan: DataPlan, model: NSManagedObjectModel, scale: Int
  ) throws(CountExpressionError) {
    self.model = model
    self.plans = plans
    seed = plan.seed
    counts = Dictionary(
      try plan.counts(scale: scale).map { ($0.name, $0.count) }, uniquingKeysWith: { $1 })
  }

  /// Writes the function `makeData`.
  func write(to lines: inout SwiftLines) {
    let order = BuildOrder(plans: plans, model: model)
    let head = "static func makeData(_ store: URL, _ model: NSManagedObjectModel) throws"
    lines.block(head) { lines in
      guard counts.values.contains(where: { $0 > 0 }) else {
        lines.line("_ = try Rows(in: store, of: model)")
        return
      }
      lines.line("let rows = try Rows(in: store, of: model)")
      var filled: [String: Int] = [:]
      for plan in order.plans {
        write(plan, late: order.late[plan.entity] ?? [], after: filled, to: &lines)
        filled[plan.entity] = counts[plan.entity] ?? 0
      }
      for plan in order.plans {
        guard let late = order.late[plan.entity], !late.isEmpty else { continue }
        writeLate(plan, late, to: &lines)
      }
    }
  }

  private func write(
    _ plan: EntityPlan, late: Set<String>, after rows: [String: Int], to lines: inout SwiftLines
  ) {
    let count = counts[plan.entity] ?? 0
    guard count > 0, let entity = model.entitiesByName[plan.entity] else { return }
    let fill = plan.filledAttributes(of: entity, after: rows)
    let links = plan.filledRelationships(of: entity).filter { !late.contains($0.name) }
    write("insert(\(count), ", plan, attributes: fill, links: links, to: &lines)
  }

  private func writeLate(_ plan: EntityPlan, _ late: Set<String>, to lines: inout SwiftLines) {
    guard let entity = model.entitiesByName[plan.entity] else { return }
    let links = plan.filledRelationships(of: entity).filter { late.contains($0.name) }
    write("relate(", plan, attributes: [], links: links, to: &lines)
  }

  private func write(
    _ call: String, _ plan: EntityPlan, attributes: [EntityPlan.FilledAttribute],
    links: [NSRelationshipDescription], to lines: inout SwiftLines
  ) {
    var identifiers = SwiftIdentifiers(reserved: [
      "rows", "object", "row", "store", "model", "date", "serial",
    ])
    lines.block("do") { lines in
      var settings: [String] = []
      for filled in attributes {
        let name = identifiers.name(filled.attribute.name)
        if let prepared = preparation(of: filled, named: name, in: plan) { lines.line(prepared) }
        let value = value(of: filled, named: name)
        let key = SwiftNames.literal(filled.attribute.name)
        settings.append("object.setValue(\(value), forKey: \(key))")
      }
      for link in links {
        let isRandom = plan.generator(of: link.name) == .random
        var choice = "UInt64(row)"
        if let number = plan.number(of: link) {
          choice = "UInt64(row * \(number)), count: \(number)"
        } else if isRandom {
          let name = identifiers.name(link.name)
          lines.line("var \(name) = \(generator(of: link.name, in: plan))")
          choice = "\(name).next()"
        }
        let targets = SwiftLiteral.texts(link.destinationEntity?.concreteEntityNames ?? [])
        settings.append(
          "rows.relate(object, \(SwiftNames.literal(link.name)), to: \(targets), \(choice))")
      }
      let usesRow = settings.contains { $0.contains(/\brow\b/) }
      lines.line(
        "try rows.\(call)\(SwiftNames.literal(plan.entity))) { "
          + (settings.isEmpty ? "_, _ in }" : "object, \(usesRow ? "row" : "_") in"))
      if !settings.isEmpty {
        lines.add(settings.map { "  \($0)" })
        lines.line("}")
      }
    }
  }

  private func generator(of property: String, in plan: EntityPlan) -> String {
    "Seeded(\(seed), \(SwiftNames.literal("\(plan.entity).\(property)")))"
  }

  /// Returns the declaration that a value needs before the first row: a stream of random numbers or
  /// a list of values.
  private func preparation(
    of filled: EntityPlan.FilledAttribute, named name: String, in plan: EntityPlan
  ) -> String? {
    switch filled.recipe {
    case .random, .hundredths, .fraction, .text, .anyDate, .flag, .bytes, .uuid:
      return "var \(name) = \(generator(of: filled.attribute.name, in: plan))"
    case .literals(let words):
      let type = filled.attribute.attributeType
      let literals = words.map { word in
        SwiftLiteral.value(AttributeLiteral(type).value(of: word), of: type)
      }
      return "let \(name): [Any?] = [\(literals.joined(separator: ", "))]"
    case .serial, .dates, .address, .none: return nil
    }
  }

  private func value(of filled: EntityPlan.FilledAttribute, named name: String) -> String {
    let type = filled.attribute.attributeType
    let row = filled.firstRow == 0 ? "row" : "row + \(filled.firstRow)"
    switch filled.recipe {
    case .serial(let least, let greatest):
      return ExportedData.number("serial(\(row), \(least), \(greatest))", type)
    case .random(let least, let greatest, let bound):
      return ExportedData.number("\(name).whole(\(least), \(greatest), below: \(bound))", type)
    case .hundredths(let least, let greatest, let bound):
      return "Decimal(\(name).whole(\(least), \(greatest), below: \(bound))) / 100"
    case .fraction(let least, let greatest):
      let number = "\(name).fraction(\(least), \(greatest))"
      return type == .floatAttributeType ? "Float(\(number))" : number
    case .text(let length, let isUnique):
      return "\(name).text(\(length), \(isUnique ? row : "nil"))"
    case .dates(let seconds, let least):
      let factor = filled.firstRow == 0 ? row : "(\(row))"
      return ExportedData.date("\(factor) * \(seconds)", after: least)
    case .anyDate(let least, let greatest):
      let length = ValueRecipe.length(from: least, to: greatest)
      return ExportedData.date("\(name).below(\(length))", after: least)
    case .flag: return "\(name).below(2) == 1"
    case .bytes(let length): return "\(name).bytes(\(length))"
    case .uuid: return "\(name).uuid()"
    case .address: return "URL(string: \"https://example.org/\\(row + \(filled.firstRow + 1))\")"
    case .literals: return "\(name)[row % \(name).count]"
    case .none: return "nil"
    }
  }

  /// Returns an expression for a date in seconds after a number of seconds.
  private static func date(_ seconds: String, after least: Int) -> String {
    "date(Double(\(least == 0 ? "" : "\(least) + ")\(seconds)))"
  }

  /// Returns an expression that converts an integer to an attribute's type.
  private static func number(_ number: String, _ type: NSAttributeType) -> String {
    switch type {
    case .integer16AttributeType: "Int16(clamping: \(number))"
    case .integer32AttributeType: "Int32(clamping: \(number))"
    case .integer64AttributeType: "Int64(\(number))"
    case .decimalAttributeType: "Decimal(\(number))"
    case .floatAttributeType: "Float(\(number))"
    default: "Double(\(number))"
    }
  }
}
