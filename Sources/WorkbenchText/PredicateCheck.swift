package import ManagedModel

/// Parses a predicate and checks its key paths against an entity.
package struct PredicateCheck {
  let names: ModelNames
  let entity: NSEntityDescription
  /// The names of computed values, which the predicate can use as variables, such as `$countDate`.
  var computed: Set<String> = []
  /// Whether variables are substituted later, as in the fetch requests of a model.
  var givesVariables = false
  /// The names of results that contain objects, which the predicate can use as variables.
  var results: Set<String> = []

  package init(
    names: ModelNames, entity: NSEntityDescription, computed: Set<String> = [],
    givesVariables: Bool = false, results: Set<String> = []
  ) {
    self.names = names
    self.entity = entity
    self.computed = computed
    self.givesVariables = givesVariables
    self.results = results
  }

  /// Parses a predicate and checks its key paths and variables.
  ///
  /// - Parameters:
  ///   - format: The predicate's format.
  ///   - word: The word that contains the format; `nil` if a program generated it.
  /// - Throws: A problem at a syntax error, an unknown key, or a variable without a value.
  package func check(_ format: String, at word: Word?) throws(LanguageProblem) {
    let word = word ?? Word(format, at: SourceRange(line: 1, column: 1, length: format.count))
    let predicate = try PredicateCheck.predicate(format, at: word, arguments: [])
    try checkPaths(of: predicate, in: word)
    if !givesVariables { try checkVariables(in: word, visit: predicate.forEachExpression) }
  }

  /// Parses an expression that's evaluated for each row of an UPDATE, and checks its key paths and
  /// variables.
  ///
  /// - Parameters:
  ///   - format: The expression's format.
  ///   - word: The word that contains the format.
  /// - Throws: A problem at a syntax error, an unknown key, a key path that needs other rows, or a
  ///   variable without a value.
  package func check(expression format: String, at word: Word) throws(LanguageProblem) {
    let expression: NSExpression
    do {
      expression = try NSExpression.parse(format, arguments: [])
    } catch {
      throw PredicateCheck.problem(error, of: "expression", "NSExpression", in: word)
    }
    for keyPath in PredicateCheck.keyPaths(expression.ownKeyPaths) {
      if let path = try? names.resolveRead(keyPath, from: entity, at: word.range),
        path.steps.isEmpty, (path.last as? NSRelationshipDescription)?.isToMany != true
      {
        continue
      }
      let range = range(of: keyPath, in: word)
      _ = try names.resolveRead(keyPath, from: entity, at: range)
      throw LanguageProblem(
        "`\(keyPath)` needs rows other than the one to update", at: range,
        nextStep: "use attributes of \(entity.name ?? "the entity"), or fetch the objects and "
          + "set their values")
    }
    try checkVariables(in: word, visit: expression.forEachExpression)
  }

  /// Checks that a subquery, an assignment, a result, or a computed value defines each variable.
  private func checkVariables(
    in word: Word, visit: ((NSExpression) -> Void) -> Void
  ) throws(LanguageProblem) {
    var used: [String] = []
    var named = computed.union(results)
    visit { expression in
      switch expression.node {
      case .variable(let name): used.append(name)
      case .subquery(_, let name, _), .assignment(let name, _): named.insert(name)
      default: break
      }
    }
    guard let name = used.first(where: { !named.contains($0) }) else { return }
    throw LanguageProblem(
      "`$\(name)` has no value", at: range(of: "$\(name)", in: word),
      didYouMean: NearestName.of(name, among: results.sorted()).map { "$\($0)" },
      nextStep: "write the value itself"
        + (results.isEmpty
          ? "" : ", or use a result: \(ModelNames.list(results.sorted().map { "$\($0)" }))")
        + "; only SUBQUERY assigns a value to a variable")
  }

  /// Parses a predicate's format.
  ///
  /// - Parameters:
  ///   - format: The format.
  ///   - word: The word that contains the format.
  ///   - arguments: The arguments of the placeholders; `nil` to keep the placeholders.
  /// - Throws: A problem at a syntax error.
  package static func predicate(
    _ format: String, at word: Word, arguments: [Any?]? = nil
  ) throws(LanguageProblem) -> NSPredicate {
    do {
      return try NSPredicate.parse(format, arguments: arguments)
    } catch {
      throw problem(error, of: "predicate", "NSPredicate", in: word)
    }
  }

  /// Returns a syntax error at its position in the word that contains the format.
  private static func problem(
    _ error: PredicateSyntaxError, of kind: String, _ type: String, in word: Word
  ) -> LanguageProblem {
    let usual =
      error.expected.isEmpty ? "use the format of `\(type)`" : "expected: \(error.expected)"
    return LanguageProblem(
      "invalid \(kind): \(error.message)", at: word.range(at: error.column - 1),
      didYouMean: error.suggestion, nextStep: error.lacksArgument ? literalStep : usual)
  }

  /// What to do about a placeholder, which only a program can pass an argument for.
  package static let literalStep =
    "write the value or the key path itself instead of the placeholder"

  /// Checks that the entity has the key paths that a predicate compares.
  ///
  /// - Throws: A problem at the first key path that the entity doesn't have, or that is the name of
  ///   a computed value.
  package func checkPaths(of predicate: NSPredicate, in word: Word) throws(LanguageProblem) {
    for keyPath in PredicateCheck.keyPaths(predicate.ownKeyPaths) {
      guard !computed.contains(keyPath) else {
        throw LanguageProblem(
          "`\(keyPath)` is a computed value, not a key path",
          at: range(of: keyPath, in: word), didYouMean: "$\(keyPath)",
          nextStep: "refer to it with a variable, as Core Data requires")
      }
      if (try? names.resolveRead(keyPath, from: entity, at: word.range)) != nil { continue }
      _ = try names.resolveRead(keyPath, from: entity, at: range(of: keyPath, in: word))
    }
  }

  /// Returns the source range of a key path's first use: not in a string, and not as a part of
  /// another word or path.
  ///
  /// **Cost:** reads the whole word, so it's only called for an error.
  private func range(of keyPath: String, in word: Word) -> SourceRange {
    let text = Array(word.text)
    let path = Array(keyPath)
    var quote: Character?
    var index = 0
    while index < text.count {
      let character = text[index]
      if let open = quote {
        if character == "\\" { index += 1 }
        if character == open { quote = nil }
      } else if character == "'" || character == "\"" {
        quote = character
      } else if text[index...].starts(with: path),
        index == 0 || !PredicateCheck.continues(text[index - 1]) && text[index - 1] != ".",
        index + path.count == text.count || !PredicateCheck.continues(text[index + path.count])
      {
        return word.range(at: index, length: path.count)
      }
      index += 1
    }
    return word.range
  }

  /// Returns whether a character can be a part of a key.
  private static func continues(_ character: Character) -> Bool {
    character.isLetter || character.isNumber || "_$@".contains(character)
  }

  /// Returns the key paths that a predicate or an expression reads, up to an operator such as
  /// `@count`, each once, in the order of their first uses.
  ///
  /// - Parameter paths: The paths from the evaluated object, without those in a `SUBQUERY`, which
  ///   start at another entity.
  private static func keyPaths(_ paths: [PredicateKeyPath]) -> [String] {
    var found: Set<String> = []
    return paths.compactMap { path in
      // `%K` can be any key, and every object has an ID and an entity.
      if path.components.contains(.placeholder) { return nil }
      var keys = path.keys.filter { $0.lowercased() != "self" }[...]
      if keys.suffix(2) == ["entity", "name"] { keys = keys.dropLast() }
      if ["objectID", "entity"].contains(keys.last) { keys = keys.dropLast() }
      let keyPath = keys.joined(separator: ".")
      return !keys.isEmpty && found.insert(keyPath).inserted ? keyPath : nil
    }
  }
}
