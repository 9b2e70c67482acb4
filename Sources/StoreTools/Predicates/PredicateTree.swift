import OpenCoreData

/// A predicate as a tree of words, for people.
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
      self.init(countOnly ? "FETCH, its number" : "FETCH", children)
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

  /// One line a node, drawn as SQLite draws its plans.
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
