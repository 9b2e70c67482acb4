import OpenCoreData
import WorkbenchText

/// Checks the options for a fetch's dictionaries against the model.
struct DictionaryCheck {
  let names: ModelNames
  let entity: NSEntityDescription
  let step: Step

  /// Checks an option.
  ///
  /// - Throws: A problem at the option if the fetch doesn't return dictionaries, at a key path
  ///   that's invalid or has many values, or at the invalid character of a predicate.
  func check(_ option: StepOption) throws(LanguageProblem) {
    guard step.resultKind == .dictionaries else {
      throw LanguageProblem(
        "`\(option.word.rawValue)` requires dictionaries, but the fetch returns "
          + step.resultKind.rawValue,
        at: step.ranges.range(of: option.word), nextStep: "add `result dictionaries`")
    }
    switch option.value {
    case .columns(let columns):
      for (index, column) in columns.enumerated() {
        let word = step.ranges.options[.columns].map { $0[index] }
        let offset = column.function.map { $0.rawValue.count + 1 } ?? 0
        let range =
          word?.range(at: offset, length: column.keyPath.count) ?? step.ranges.verb
        try check(column.keyPath, at: range)
      }
    case .keyPaths(let keyPaths):
      for (index, keyPath) in keyPaths.enumerated() {
        try check(keyPath, at: step.ranges.range(of: .group, at: index))
      }
    case .predicate(let format):
      try PredicateCheck(names: names, entity: entity, computed: Set(step.computedNames))
        .check(format, at: step.ranges.options[.having]?.first)
    default: break
    }
  }

  private func check(_ keyPath: String, at range: SourceRange) throws(LanguageProblem) {
    let path = try names.resolve(keyPath, from: entity, at: range)
    let endsToMany = (path.last as? NSRelationshipDescription)?.isToMany == true
    guard !path.passesToMany, !endsToMany else {
      throw LanguageProblem(
        "`\(keyPath)` has many values, but a dictionary can contain only one", at: range,
        nextStep: "name an attribute or a to-one relationship, or fetch the other entity")
    }
  }
}

extension Step {
  /// The dictionary keys of the functions among a fetch's columns.
  var computedNames: [String] {
    guard let columns = columns(of: .columns) else { return [] }
    return columns.filter { $0.function != nil }.map(\.name)
  }
}
