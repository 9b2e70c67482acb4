package import OpenCoreData

/// Reads a predicate and checks its key paths against an entity.
package struct PredicateCheck {
  let names: ModelNames
  let entity: NSEntityDescription
  /// Names of computed values that it can use in addition to the entity's keys.
  var computed: Set<String> = []
  /// Whether variables get their values later, as those of a model's fetch requests do.
  var givesVariables = false

  package init(
    names: ModelNames, entity: NSEntityDescription, computed: Set<String> = [],
    givesVariables: Bool = false
  ) {
    self.names = names
    self.entity = entity
    self.computed = computed
    self.givesVariables = givesVariables
  }

  /// - Parameter word: where the format was written; nil when it was made by a program.
  /// - Throws: a problem at the character the format goes wrong at, at an unknown key, or at a variable
  ///   that nothing gives a value.
  package func check(_ format: String, at word: Word?) throws(LanguageProblem) {
    let word = word ?? Word(format, at: SourceRange(line: 1, column: 1, length: format.count))
    let predicate = try PredicateCheck.predicate(format, at: word, arguments: [])
    try checkPaths(of: predicate, in: word)
    if !givesVariables, let name = PredicateCheck.unboundVariable(of: predicate) {
      throw LanguageProblem(
        "`$\(name)` has no value", at: place(of: "$\(name)", in: word),
        nextStep: "write the value itself; only SUBQUERY gives a variable one")
    }
  }

  /// The first variable that no subquery and no assignment names.
  private static func unboundVariable(of predicate: NSPredicate) -> String? {
    var used: [String] = []
    var named: Set<String> = []
    predicate.forEachExpression { expression in
      switch expression.node {
      case .variable(let name): used.append(name)
      case .subquery(_, let name, _), .assignment(let name, _): named.insert(name)
      default: break
      }
    }
    return used.first { !named.contains($0) }
  }

  /// Reads a format.
  ///
  /// - Parameter arguments: of its placeholders; nil lets them stay.
  /// - Throws: a problem at the character the format goes wrong at.
  package static func predicate(
    _ format: String, at word: Word, arguments: [Any?]? = nil
  ) throws(LanguageProblem) -> NSPredicate {
    do {
      return try NSPredicate.parse(format, arguments: arguments)
    } catch {
      throw LanguageProblem(
        "the predicate cannot be read: \(error.message)", at: word.place(at: error.column - 1),
        didYouMean: error.suggestion,
        nextStep: error.expected.isEmpty
          ? "write it as `NSPredicate` takes it" : "expected here: \(error.expected)")
    }
  }

  /// Looks up the key paths that a predicate compares.
  ///
  /// - Throws: a problem at the first that the entity does not have.
  package func checkPaths(of predicate: NSPredicate, in word: Word) throws(LanguageProblem) {
    for keyPath in PredicateCheck.keyPaths(of: predicate) where !computed.contains(keyPath) {
      _ = try names.resolveRead(keyPath, from: entity, at: place(of: keyPath, in: word))
    }
  }

  private func place(of keyPath: String, in word: Word) -> SourceRange {
    guard let range = word.text.range(of: keyPath) else { return word.place }
    let offset = word.text.distance(from: word.text.startIndex, to: range.lowerBound)
    return word.place(at: offset, length: keyPath.count)
  }

  /// The keys of the paths that a predicate compares, up to an operator such as `@count`.
  ///
  /// Those inside of `SUBQUERY` begin elsewhere and are left out.
  private static func keyPaths(of predicate: NSPredicate) -> [String] {
    predicate.ownKeyPaths.compactMap { path in
      // `%K` may be any key, and every object has an ID.
      let keys = path.keys.filter { $0.lowercased() != "self" }
      return keys.isEmpty || path.components.contains(.placeholder) || keys == ["objectID"]
        ? nil : keys.joined(separator: ".")
    }
  }
}
