import ManagedModel

/// How the value of a derived attribute follows from other values.
package enum DerivedFormula: Hashable, Sendable {
  /// Changes of a text on the way, by their names in the model.
  package enum Change: String, CaseIterable, Hashable, Sendable {
    /// Without case and accents.
    case canonical
    case lowercase
    case uppercase
  }

  /// The attribute at the end of a path of to-one relationships, or of the object itself.
  case copy(path: [String], Change?)
  /// The number of objects in a to-many relationship.
  case count(relationship: String)
  /// The sum of a number over the objects of a to-many relationship.
  case sum(relationship: String, attribute: String)
  /// The time of the last save.
  case now

  /// Reads a formula as models write it.
  ///
  /// `pages.@count`, `pages.@sum.length` or `@sum.pages.length`, `canonical:(name)`, `owner.name`,
  /// `now()`; a `self.` in front does not count.
  ///
  /// - Returns: Nil for a formula of another form.
  package init?(_ text: String) {
    let formula = text.filter { !$0.isWhitespace }
    if ["now()", "now:()", "now"].contains(formula) {
      self = .now
      return
    }
    for change in Change.allCases {
      for opening in ["\(change.rawValue):(", "\(change.rawValue)("]
      where formula.hasPrefix(opening) && formula.hasSuffix(")") {
        let path = Self.path(formula.dropFirst(opening.count).dropLast())
        guard Self.isPlain(path) else { return nil }
        self = .copy(path: path, change)
        return
      }
    }
    let path = Self.path(formula[...])
    if path.count == 2, path[1] == "@count", Self.isPlain([path[0]]) {
      self = .count(relationship: path[0])
    } else if path.count == 3, path[1] == "@sum", Self.isPlain([path[0], path[2]]) {
      self = .sum(relationship: path[0], attribute: path[2])
    } else if path.count == 3, path[0] == "@sum", Self.isPlain([path[1], path[2]]) {
      self = .sum(relationship: path[1], attribute: path[2])
    } else if Self.isPlain(path) {
      self = .copy(path: path, nil)
    } else {
      return nil
    }
  }

  private static func path(_ text: Substring) -> [String] {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    return parts.count > 1 && parts[0].lowercased() == "self" ? Array(parts.dropFirst()) : parts
  }

  private static func isPlain(_ path: [String]) -> Bool {
    !path.isEmpty
      && path.allSatisfy { part in
        !part.isEmpty && part.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
      }
  }
}

extension DerivedFormula.Change {
  /// The SQL function, which conditions call too.
  var function: ValueFunction {
    switch self {
    case .canonical: .canonical
    case .lowercase: .lowercase
    case .uppercase: .uppercase
    }
  }
}
