import OpenCoreData
import WorkbenchText

/// Holds what a fetch says of its dictionaries against the model.
struct DictionaryCheck {
  let names: ModelNames
  let entity: NSEntityDescription
  let step: Step

  /// - Throws: a problem at the option when the fetch brings no dictionaries, at a key path that is
  ///   wrong or has many values, at a predicate's character.
  func check(_ option: StepOption) throws(LanguageProblem) {
    guard step.resultKind == .dictionaries else {
      throw LanguageProblem(
        "`\(option.word.rawValue)` is for dictionaries, and the fetch brings "
          + step.resultKind.rawValue,
        at: step.places.place(of: option.word), nextStep: "add `result dictionaries`")
    }
    switch option {
    case .columns(let columns):
      for (index, column) in columns.enumerated() {
        let word = step.places.options[.columns].map { $0[index] }
        let offset = column.function.map { $0.rawValue.count + 1 } ?? 0
        let place =
          word?.place(at: offset, length: column.keyPath.count) ?? step.places.verb
        try check(column.keyPath, at: place)
      }
    case .group(let keyPaths):
      for (index, keyPath) in keyPaths.enumerated() {
        try check(keyPath, at: step.places.place(of: .group, at: index))
      }
    case .having(let format):
      try PredicateCheck(names: names, entity: entity, computed: Set(step.computedNames))
        .check(format, at: step.places.options[.having]?.first)
    default: break
    }
  }

  private func check(_ keyPath: String, at place: SourcePlace) throws(LanguageProblem) {
    let path = try names.resolve(keyPath, from: entity, at: place)
    let endsToMany = (path.last as? NSRelationshipDescription)?.isToMany == true
    guard !path.passesToMany, !endsToMany else {
      throw LanguageProblem(
        "`\(keyPath)` has many values, and a dictionary holds one", at: place,
        nextStep: "name an attribute or a to-one relationship, or fetch the other entity")
    }
  }
}

extension Step {
  /// The names of the functions among a fetch's columns.
  var computedNames: [String] {
    guard case .columns(let columns)? = option(.columns) else { return [] }
    return columns.filter { $0.function != nil }.map(\.name)
  }
}
