/// What a derived attribute's value is computed from.
package enum DerivedFormula: Hashable, Sendable {
  /// Functions that change a string, by their names in the model.
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

  /// Reads a formula from the text of a derivation expression.
  ///
  /// A collection operator can be first, last, or between the relationship and the attribute
  /// (`@sum.pages.words`, `pages.words.@sum`, `pages.@sum.words`), or a function
  /// (`sum:(pages.words)`, `count:(pages)`). A leading `self.` is ignored.
  ///
  /// - Returns: Nil for other formulas.
  package init?(_ text: String) {
    // `#` precedes a key that is a reserved word.
    let formula = text.filter { !$0.isWhitespace && $0 != "#" }
    if ["now()", "now:()", "now"].contains(formula) {
      self = .now
      return
    }
    if let (function, argument) = Self.call(formula) {
      let path = Self.path(argument)
      guard Self.isPlain(path) else { return nil }
      switch (function, path.count) {
      case ("count", 1): self = .count(relationship: path[0])
      case ("sum", 2): self = .sum(relationship: path[0], attribute: path[1])
      default:
        guard let change = Change(rawValue: function) else { return nil }
        self = .copy(path: path, change)
      }
      return
    }
    var path = Self.path(formula[...])
    guard let place = path.firstIndex(where: { $0.hasPrefix("@") }) else {
      guard Self.isPlain(path) else { return nil }
      self = .copy(path: path, nil)
      return
    }
    let collectionOperator = path.remove(at: place)
    guard Self.isPlain(path) else { return nil }
    switch (collectionOperator, path.count) {
    case ("@count", 1) where place == 1: self = .count(relationship: path[0])
    case ("@sum", 2): self = .sum(relationship: path[0], attribute: path[1])
    default: return nil
    }
  }

  /// The function and the argument of a call with one argument, `name:(argument)`.
  private static func call(_ text: String) -> (function: String, argument: Substring)? {
    guard text.hasSuffix(")"), let opening = text.firstIndex(of: "(") else { return nil }
    let name = text[..<opening]
    let argument = text[text.index(after: opening)...].dropLast()
    return (String(name.last == ":" ? name.dropLast() : name), argument)
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
