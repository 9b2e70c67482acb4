import OpenCoreData

/// Reads a predicate and holds its key paths against an entity.
struct PredicateCheck {
  let names: ModelNames
  let entity: NSEntityDescription

  /// - Parameter word: where the format was written; nil when it was made by a program.
  /// - Throws: a problem at the character the format goes wrong at, or at an unknown key.
  func check(_ format: String, at word: Word?) throws(LanguageProblem) {
    let word = word ?? Word(format, at: SourcePlace(line: 1, column: 1, length: format.count))
    let predicate: NSPredicate
    do {
      predicate = try NSPredicate.parse(format, arguments: [])
    } catch {
      throw LanguageProblem(
        "the predicate cannot be read: \(error.message)", at: word.place(at: error.column - 1),
        didYouMean: error.suggestion,
        nextStep: error.expected.isEmpty
          ? "write it as `NSPredicate` takes it" : "expected here: \(error.expected)")
    }
    for keyPath in PredicateCheck.keyPaths(of: predicate) {
      _ = try names.resolve(keyPath, from: entity, at: place(of: keyPath, in: word))
    }
  }

  private func place(of keyPath: String, in word: Word) -> SourcePlace {
    guard let range = word.text.range(of: keyPath) else { return word.place }
    let offset = word.text.distance(from: word.text.startIndex, to: range.lowerBound)
    return word.place(at: offset, length: keyPath.count)
  }

  /// The key paths a predicate compares; those inside of `SUBQUERY` begin elsewhere and are left out.
  private static func keyPaths(of predicate: NSPredicate) -> [String] {
    if let compound = predicate as? NSCompoundPredicate {
      return compound.subpredicates.compactMap { $0 as? NSPredicate }.flatMap(keyPaths)
    }
    guard let comparison = predicate as? NSComparisonPredicate else { return [] }
    return keyPaths(of: comparison.leftExpression) + keyPaths(of: comparison.rightExpression)
  }

  private static func keyPaths(of expression: NSExpression) -> [String] {
    expression.expressionType == .keyPath ? [expression.keyPath] : []
  }
}
