/// One option of a step with its value.
package enum StepOption: Sendable, Hashable {
  /// `where`: a predicate's format.
  case predicate(String)
  case sort([SortKey])
  case limit(Int)
  case offset(Int)
  case batch(Int)
  case prefetch([String])
  case values(Bool)
  case faults(Bool)
  case pending(Bool)
  case subentities(Bool)
  case result(ResultKind)
  /// How many objects to insert.
  case times(Int)
  /// `with`: values to give.
  case assignments([Assignment])
  /// Whether a refresh keeps unsaved changes.
  case keep(Bool)
  /// `in`: the name of a context.
  case context(String)

  /// Its word.
  package var word: OptionWord {
    switch self {
    case .predicate: .predicate
    case .sort: .sort
    case .limit: .limit
    case .offset: .offset
    case .batch: .batch
    case .prefetch: .prefetch
    case .values: .values
    case .faults: .faults
    case .pending: .pending
    case .subentities: .subentities
    case .result: .result
    case .times: .times
    case .assignments: .assignments
    case .keep: .keep
    case .context: .context
    }
  }

  /// The value as it is written on a shell line.
  package var valueText: String {
    switch self {
    case .predicate(let format): LineWords.quoted(format)
    case .sort(let keys): keys.map { LineWords.plain($0.description) }.joined(separator: ", ")
    case .limit(let number), .offset(let number), .batch(let number), .times(let number):
      String(number)
    case .prefetch(let keyPaths): keyPaths.map(LineWords.plain).joined(separator: ", ")
    case .values(let flag), .faults(let flag), .pending(let flag), .subentities(let flag),
      .keep(let flag):
      flag ? "yes" : "no"
    case .result(let kind): kind.rawValue
    case .assignments(let assignments):
      assignments.map { "\(LineWords.plain($0.key)) \(LineWords.plain($0.value))" }
        .joined(separator: ", ")
    case .context(let name): LineWords.plain(name)
    }
  }
}
