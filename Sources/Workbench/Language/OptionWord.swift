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
  case removals = "without"
  case keep
  case every
  case array
  case redo
  case parent
  case queue
  case coordinator
  case policy
  case merges
  case staleness
  case undoable
  case retains
  case remote
  case keys
  case remove
  case to
  case context = "in"

  /// What kind of value follows the word.
  package enum Kind: Sendable {
    case predicate
    case sortKeys
    case number
    /// A number that may be negative or broken.
    case seconds
    case keyPaths
    /// Key paths, and functions of them.
    case columns
    case flag
    /// One of a few words; `choices` has them.
    case choice
    case assignments
    case name
    /// Whatever SQLite takes.
    case text
  }

  /// The kind of its value.
  package var kind: Kind {
    switch self {
    case .predicate, .having: .predicate
    case .sort, .keys: .sortKeys
    case .limit, .offset, .batch, .times, .every: .number
    case .staleness: .seconds
    case .prefetch, .group: .keyPaths
    case .columns: .columns
    case .values, .faults, .pending, .subentities, .distinct, .keep, .array, .redo, .merges,
      .undoable, .retains, .remote:
      .flag
    case .result, .queue, .policy: .choice
    case .assignments, .removals: .assignments
    case .context, .parent, .coordinator, .remove: .name
    case .to: .text
    }
  }

  /// The largest value of an option of the kind `number`.
  var greatestNumber: Int { self == .times ? InputLimits.times : InputLimits.objects }

  /// The words that an option of the kind `choice` may have; empty for the others.
  package var choices: [String] {
    switch self {
    case .result: ResultKind.allCases.map(\.rawValue)
    case .queue: ContextQueue.allCases.map(\.rawValue)
    case .policy: MergePolicyName.allCases.map(\.rawValue)
    default: []
    }
  }

  /// Apple's property that it sets, of `NSFetchRequest` or `NSManagedObjectContext`; nil when it sets
  /// none.
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
    default: nil
    }
  }

  /// An example of the word with a value, for errors.
  package var example: String {
    switch self {
    case .predicate: "where \"date > 0\""
    case .having: "having \"countDate > 2\""
    case .sort: "sort date-"
    case .limit, .offset, .batch, .times, .every: "\(rawValue) 20"
    case .prefetch: "prefetch country"
    case .columns: "columns country, count(date)"
    case .group: "group country"
    case .values, .faults, .pending, .subentities, .keep: "\(rawValue) no"
    case .distinct, .array, .redo, .merges, .undoable, .retains, .remote: "\(rawValue) yes"
    case .result: "result ids"
    case .assignments: "with latitude 1.5"
    case .removals: "without moods old"
    case .context, .parent: "\(rawValue) main"
    case .queue: "queue main"
    case .coordinator: "coordinator second"
    case .policy: "policy overwrite"
    case .staleness: "staleness 0"
    case .keys: "keys country, date-"
    case .remove: "remove byDate"
    case .to: "to current"
    }
  }
}
