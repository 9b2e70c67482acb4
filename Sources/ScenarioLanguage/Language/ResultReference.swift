import ManagedModel
import WorkbenchText

/// A result that a predicate refers to: `$city` in `homeTown == $city`.
package struct ResultReference: Sendable, Hashable {
  /// The name of the result.
  package let name: String
  /// Whether the value is a list of all objects, as in `IN $cities`, instead of the result's only
  /// object.
  package let isList: Bool
  /// The characters of the reference in the predicate's format.
  fileprivate let range: Range<String.Index>

  /// Returns the references in a format, in order.
  ///
  /// Variables of `SUBQUERY`, assignments, and quoted text aren't references.
  fileprivate static func all(in format: String) -> [ResultReference] {
    // Most predicates have none, and a pattern is compiled each time it's used.
    guard format.utf8.contains(UInt8(ascii: "$")) else { return [] }
    let bound = Set(
      format.matches(of: /(?i)SUBQUERY\s*\([^,]*,\s*\$(\w+)|\$(\w+)\s*:=/)
        .compactMap { $0.1 ?? $0.2 })
    var references: [ResultReference] = []
    // A quoted string is skipped as a whole.
    let pattern = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\$(\w+)/
    for match in format.matches(of: pattern) {
      guard let name = match.1, !bound.contains(name) else { continue }
      let before = format[..<match.range.lowerBound]
      references.append(
        ResultReference(name: String(name), isList: endsInIN(before), range: match.range))
    }
    return references
  }

  /// Returns whether the last word of a part of a format is `IN`.
  private static func endsInIN(_ text: Substring) -> Bool {
    guard let last = text.lastIndex(where: { !$0.isWhitespace }) else { return false }
    let words = text[...last]
    guard words.suffix(2).uppercased() == "IN" else { return false }
    return words.dropLast(2).last.map { !($0.isLetter || $0.isNumber || $0 == "_") } ?? true
  }
}

extension Step {
  /// The results that the step's predicate refers to, in order; a result can occur several times.
  package var predicateReferences: [ResultReference] {
    format(of: .predicate).map(ResultReference.all) ?? []
  }

  /// The format of the step's predicate with `%@` instead of each reference to a result, or `nil`
  /// if the step has no predicate.
  package var predicateFormat: String? {
    guard var format = format(of: .predicate) else { return nil }
    for reference in predicateReferences.reversed() {
      format.replaceSubrange(reference.range, with: "%@")
    }
    return format
  }
}

/// Checks the references of a predicate to results.
struct ReferenceCheck {
  let names: ModelNames
  let entity: NSEntityDescription
  let results: [String: ResultShape]

  /// Checks that each result contains objects of the entity that it's compared with.
  ///
  /// - Throws: A problem at the first reference that is compared with an attribute or with objects
  ///   of another entity.
  func check(_ format: String, at word: Word) throws(LanguageProblem) {
    let references = ResultReference.all(in: format)
    guard !references.isEmpty else { return }
    let predicate = try PredicateCheck.predicate(format, at: word, arguments: [])
    for (name, path) in predicate.comparedVariables {
      guard let shape = results[name], let reference = references.first(where: { $0.name == name })
      else { continue }
      let offset = format.distance(from: format.startIndex, to: reference.range.lowerBound)
      try check(
        shape, called: name, comparedWith: path, at: word.range(at: offset, length: name.count + 1))
    }
  }

  private func check(
    _ shape: ResultShape, called name: String, comparedWith path: String, at range: SourceRange
  ) throws(LanguageProblem) {
    let isSelf = path.isEmpty
    let last = isSelf ? nil : try names.resolve(path, from: entity, at: range).last
    let relationship = last as? NSRelationshipDescription
    guard isSelf || relationship != nil else {
      throw LanguageProblem(
        "`$\(name)` contains \(shape.entity), but `\(path)` is an attribute", at: range,
        nextStep: "compare it with a relationship or with SELF, or write the value itself")
    }
    guard let wanted = isSelf ? entity : relationship?.destinationEntity,
      let found = names.model.entitiesByName[shape.entity]
    else { return }
    guard found.isKind(of: wanted) || wanted.isKind(of: found) else {
      throw LanguageProblem(
        "`$\(name)` contains \(shape.entity), but \(isSelf ? "SELF" : "`\(path)`") is "
          + (wanted.name ?? ""),
        at: range, nextStep: "use a result of \(wanted.name ?? "")")
    }
  }
}

extension NSPredicate {
  /// The variables that are compared with a key path, empty for `SELF`, in order.
  fileprivate var comparedVariables: [(name: String, keyPath: String)] {
    switch form {
    case .compound(_, let predicates): predicates.flatMap(\.comparedVariables)
    case .comparison(let comparison):
      NSPredicate.compared(comparison.leftExpression, comparison.rightExpression)
        + NSPredicate.compared(comparison.rightExpression, comparison.leftExpression)
    case .constant, .block, .unknown: []
    }
  }

  private static func compared(
    _ path: NSExpression, _ variable: NSExpression
  ) -> [(name: String, keyPath: String)] {
    guard case .variable(let name) = variable.node else { return [] }
    switch path.node {
    case .evaluatedObject: return [(name, "")]
    case .keyPath(let path):
      let keys = path.keys.filter { $0.lowercased() != "self" }
      // An operator such as `@count` has a number as its value.
      guard keys.count == path.components.count, keys != ["objectID"] else { return [] }
      return [(name, keys.joined(separator: "."))]
    default: return []
    }
  }
}
