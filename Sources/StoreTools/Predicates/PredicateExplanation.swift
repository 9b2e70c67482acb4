package import OpenCoreData
import SQLiteDriver
package import StatementAnalysis
import WorkbenchText

/// An explanation of a predicate: its canonical format, its tree, and its SQL for an entity.
package struct PredicateExplanation: Sendable {
  /// The canonical format, as `predicateFormat` returns it.
  package let format: String
  /// The lines of the tree, one for each part of the predicate.
  package let tree: [String]
  /// The SELECT of a fetch with the predicate, or `nil` if no entity is given.
  package let statement: FetchStatement?

  /// Parses a predicate format.
  ///
  /// - Parameter text: A format for `NSPredicate(format:)`. Placeholders aren't replaced.
  /// - Throws: A `CommandFailure` with a caret under the error.
  package init(_ text: String) throws {
    try self.init(predicate: PredicateExplanation.read(text), statement: nil)
  }

  /// Parses a predicate format and translates it to SQL for an entity.
  ///
  /// - Parameter mapping: The model mapped to the tables of a store. If it's `nil`, or the store
  ///   can't contain the entity, the SQL has the tables and entity IDs of a new file.
  /// - Throws: A `CommandFailure` with a caret under an error, or under a part that can't be
  ///   translated to SQL; also if the entity is unknown.
  package init(
    _ text: String, entity name: String, model: NSManagedObjectModel, mapping: SQLModel? = nil
  ) throws {
    let predicate = try PredicateExplanation.read(text)
    let names = ModelNames(model)
    let entity: NSEntityDescription
    do {
      entity = try names.entity(name, at: PredicateExplanation.range(of: name, in: name))
    } catch {
      throw CommandFailure(error, in: name)
    }
    do {
      try PredicateCheck(names: names, entity: entity).checkPaths(
        of: predicate, in: Word(text, at: PredicateExplanation.range(of: text, in: text)))
    } catch {
      throw CommandFailure(error, in: text)
    }
    let mapped = mapping.flatMap { $0.entity(named: entity.name ?? "") == nil ? nil : $0 }
    do {
      try self.init(
        predicate: predicate,
        statement: FetchStatement(
          predicate: predicate, entity: entity, in: mapped ?? SQLModel(model: model)))
    } catch let refusal as FetchStatement.Refusal {
      throw PredicateExplanation.failure(refusal, in: text)
    }
  }

  private init(predicate: NSPredicate, statement: FetchStatement?) throws {
    format = predicate.predicateFormat
    tree = PredicateTree(predicate).lines
    self.statement = statement
  }

  private static func read(_ text: String) throws -> NSPredicate {
    do {
      return try PredicateCheck.predicate(text, at: Word(text, at: range(of: text, in: text)))
    } catch {
      throw CommandFailure(error, in: text)
    }
  }

  /// Returns the range of a part in a string, or of the whole string if it doesn't contain the
  /// part.
  private static func range(of part: String, in text: String) -> SourceRange {
    guard let range = text.range(of: part) else {
      return SourceRange(line: 1, column: 1, length: text.count)
    }
    let offset = text.distance(from: text.startIndex, to: range.lowerBound)
    return SourceRange(line: 1, column: 1 + offset, length: part.count)
  }

  private static func failure(_ refusal: FetchStatement.Refusal, in text: String) -> CommandFailure
  {
    CommandFailure(
      LanguageProblem(
        "`\(refusal.piece)` can't be translated to SQL: \(sentence(refusal.reason))",
        at: range(of: refusal.piece, in: text), didYouMean: refusal.suggestion,
        nextStep: refusal.piece.hasPrefix("%")
          ? PredicateCheck.literalStep : "rewrite it, or fetch without it and filter in memory"),
      in: text)
  }

  private static func sentence(_ reason: String) -> String {
    reason.hasSuffix(".") ? String(reason.dropLast()) : reason
  }
}

/// The text format of a predicate's explanation.
package enum PredicateText {
  /// The parts to print.
  package struct Parts: OptionSet, Sendable {
    package let rawValue: Int

    package init(rawValue: Int) {
      self.rawValue = rawValue
    }

    /// The canonical format.
    package static let format = Parts(rawValue: 1)
    /// The tree.
    package static let tree = Parts(rawValue: 2)
    /// The SELECT.
    package static let sql = Parts(rawValue: 4)
    /// The bound values of the SELECT.
    package static let binds = Parts(rawValue: 8)
    /// All parts.
    package static let all: Parts = [.format, .tree, .sql, .binds]
  }

  /// Returns the lines of an explanation, in which each part starts with its name.
  package static func lines(_ explanation: PredicateExplanation, _ parts: Parts = .all) -> [String]
  {
    var lines: [String] = []
    if parts.contains(.format) { lines += titled("format", [explanation.format]) }
    if parts.contains(.tree) { lines += titled("tree", explanation.tree) }
    guard let statement = explanation.statement else { return lines }
    if parts.contains(.sql) { lines += titled("sql", [statement.sql]) }
    if parts.contains(.binds) {
      lines += titled(
        "binds", statement.binds.enumerated().map { "[\($0.offset)] \($0.element)" })
      for (index, numbers) in statement.intArrays.enumerated() {
        let list = numbers.map(String.init).joined(separator: ", ")
        lines += titled("array", ["_Z_intarray\(index): \(list)"])
      }
    }
    return lines
  }

  /// Returns the lines for the plan of the SELECT and its assessment.
  ///
  /// - Parameters:
  ///   - plan: The lines of the plan.
  ///   - explanation: The explanation with the SELECT.
  ///   - present: The indexes of the store; empty if they're unknown.
  package static func lines(
    plan: [String], of explanation: PredicateExplanation, present: [FileIndex] = []
  ) -> [String] {
    guard let statement = explanation.statement, !plan.isEmpty else { return [] }
    let assessment = PlanAssessment(sql: statement.sql, lines: plan, count: 1, present: present)
    return titled("plan", plan) + titled("", [assessment.text])
  }

  private static func titled(_ title: String, _ lines: [String]) -> [String] {
    lines.enumerated().map { index, line in
      NumberText.left(index == 0 ? title : "", 8) + line
    }
  }
}

/// The tree of a predicate.
struct PredicateTree {
  private let label: String
  private let branches: [PredicateTree]

  private init(_ label: String, _ branches: [PredicateTree] = []) {
    self.label = label
    self.branches = branches
  }

  init(_ predicate: NSPredicate) {
    switch predicate.form {
    case .compound(let type, let parts):
      let word =
        switch type {
        case .not: "NOT"
        case .and: "AND"
        case .or: "OR"
        }
      self.init(word, parts.map { PredicateTree($0) })
    case .comparison(let comparison):
      let modifier =
        switch comparison.comparisonPredicateModifier {
        case .direct: ""
        case .any: "ANY "
        case .all: "ALL "
        }
      let sign = comparison.customSelectorName ?? comparison.predicateOperatorType.sign
      self.init(
        modifier + sign + comparison.options.text,
        [PredicateTree(comparison.leftExpression), PredicateTree(comparison.rightExpression)])
    case .constant(let value): self.init(value ? "TRUEPREDICATE" : "FALSEPREDICATE")
    case .block, .unknown: self.init(predicate.predicateFormat)
    }
  }

  init(_ expression: NSExpression) {
    let children = expression.node.children.map { PredicateTree($0) }
    switch expression.node {
    case .constant(let value): self.init("\(PredicateTree.kind(of: value)) \(expression)")
    case .evaluatedObject: self.init("SELF")
    case .variable: self.init("variable \(expression)")
    case .keyPath: self.init("key path \(expression)")
    case .path: self.init("path", children)
    case .subscripted(_, let index):
      let word =
        switch index {
        case .first: "[FIRST]"
        case .last: "[LAST]"
        case .size: "[SIZE]"
        case .expression: "[…]"
        }
      self.init("element \(word)", children)
    case .function(let function, _): self.init("function \(function.rawValue)", children)
    case .method(_, let name, _): self.init("FUNCTION \(name)", children)
    case .aggregate: self.init("list", children)
    case .setOperation(let operation, _, _): self.init(operation.rawValue, children)
    case .subquery(_, let variable, let predicate):
      self.init("SUBQUERY $\(variable)", children + [PredicateTree(predicate)])
    case .conditional(let predicate, _, _):
      self.init("TERNARY", [PredicateTree(predicate)] + children)
    case .anyKey, .block: self.init(expression.description, children)
    case .assignment(let name, _): self.init("$\(name) :=", children)
    case .fetch(_, _, let countOnly):
      self.init(countOnly ? "FETCH, count only" : "FETCH", children)
    }
  }

  private static func kind(of value: PredicateValue) -> String {
    switch value {
    case .null: "constant"
    case .bool: "Boolean"
    case .integer: "integer"
    case .double: "double"
    case .decimal: "decimal"
    case .string: "string"
    case .date: "date"
    case .data: "data"
    case .uuid: "UUID"
    case .url: "URL"
    case .collection(let collection): collection.isOrdered ? "list" : "set"
    case .dictionary: "dictionary"
    case .object: "object"
    case .placeholder: "argument"
    }
  }

  /// The lines of the tree, one for each node, in the style of SQLite's query plans.
  var lines: [String] {
    var lines = [label]
    for (index, branch) in branches.enumerated() {
      let isLast = index == branches.count - 1
      for (number, line) in branch.lines.enumerated() {
        let head = number == 0 ? (isLast ? "`--" : "|--") : (isLast ? "   " : "|  ")
        lines.append(head + line)
      }
    }
    return lines
  }
}
