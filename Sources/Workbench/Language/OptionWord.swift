/// The words that may stand behind a verb's subject: the same on a shell line and in YAML.
///
/// The order of the cases is the order in which a step's options are kept and printed.
package enum OptionWord: String, CaseIterable, Sendable {
  case predicate = "where"
  case sort
  case limit
  case offset
  case batch
  case prefetch
  case values
  case faults
  case pending
  case subentities
  case result
  case columns
  case group
  case having
  case distinct
  case times
  case assignments = "with"
  case keep
  case context = "in"

  /// What kind of value follows the word.
  package enum Kind: Sendable {
    case predicate
    case sortKeys
    case number
    case keyPaths
    case flag
    case resultKind
    case assignments
    case name
  }

  /// The kind of its value.
  package var kind: Kind {
    switch self {
    case .predicate, .having: .predicate
    case .sort: .sortKeys
    case .limit, .offset, .batch, .times: .number
    case .prefetch, .columns, .group: .keyPaths
    case .values, .faults, .pending, .subentities, .distinct, .keep: .flag
    case .result: .resultKind
    case .assignments: .assignments
    case .context: .name
    }
  }

  /// Whether a session can obey it.
  ///
  /// The others are words of the language that it refuses by name.
  package var isRunnable: Bool {
    switch self {
    case .columns, .group, .having, .distinct: false
    default: true
    }
  }

  /// The property of `NSFetchRequest` it sets; nil when it is no option of a fetch.
  package var requestProperty: String? {
    switch self {
    case .predicate: "predicate"
    case .sort: "sortDescriptors"
    case .limit: "fetchLimit"
    case .offset: "fetchOffset"
    case .batch: "fetchBatchSize"
    case .prefetch: "relationshipKeyPathsForPrefetching"
    case .values: "includesPropertyValues"
    case .faults: "returnsObjectsAsFaults"
    case .pending: "includesPendingChanges"
    case .subentities: "includesSubentities"
    case .result: "resultType"
    case .columns: "propertiesToFetch"
    case .group: "propertiesToGroupBy"
    case .having: "havingPredicate"
    case .distinct: "returnsDistinctResults"
    case .times, .assignments, .keep, .context: nil
    }
  }

  /// An example of the word with a value, for errors.
  package var example: String {
    switch self {
    case .predicate, .having: "\(rawValue) \"date > 0\""
    case .sort: "sort date-"
    case .limit, .offset, .batch, .times: "\(rawValue) 20"
    case .prefetch: "prefetch country"
    case .columns, .group: "\(rawValue) date"
    case .values, .faults, .pending, .subentities, .distinct, .keep: "\(rawValue) no"
    case .result: "result ids"
    case .assignments: "with latitude 1.5"
    case .context: "in main"
    }
  }
}
