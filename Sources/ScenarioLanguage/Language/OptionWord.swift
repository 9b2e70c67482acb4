package import OpenCoreData
import WorkbenchText

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

  /// What kind of value follows the word, and the option that the word makes of it.
  package enum Kind: Sendable {
    case predicate(@Sendable (String) -> StepOption)
    case sortKeys(@Sendable ([SortKey]) -> StepOption)
    case number(@Sendable (StepNumber) -> StepOption)
    /// A number that may be negative or have a fraction.
    case seconds(@Sendable (Double) -> StepOption)
    case keyPaths(@Sendable ([String]) -> StepOption)
    /// Key paths, and functions of them.
    case columns(@Sendable ([FetchColumn]) -> StepOption)
    case flag(@Sendable (Bool) -> StepOption)
    /// One of a few words; the closure returns nil for any other.
    case choice([String], @Sendable (String) -> StepOption?)
    case assignments(@Sendable ([Assignment]) -> StepOption)
    case name(@Sendable (String) -> StepOption)
    /// Whatever SQLite takes.
    case text(@Sendable (String) -> StepOption)

    /// A choice among the cases of an enumeration.
    static func choice<Choice: RawRepresentable<String> & CaseIterable & SendableMetatype>(
      _ option: @escaping @Sendable (Choice) -> StepOption
    ) -> Kind {
      .choice(Choice.allCases.map(\.rawValue)) { Choice(rawValue: $0).map(option) }
    }
  }

  /// The kind of its value.
  package var kind: Kind {
    switch self {
    case .predicate: .predicate { .predicate($0) }
    case .sort: .sortKeys { .sort($0) }
    case .limit: .number { .limit($0) }
    case .offset: .number { .offset($0) }
    case .batch: .number { .batch($0) }
    case .prefetch: .keyPaths { .prefetch($0) }
    case .values: .flag { .values($0) }
    case .faults: .flag { .faults($0) }
    case .pending: .flag { .pending($0) }
    case .subentities: .flag { .subentities($0) }
    case .result: .choice { .result($0) }
    case .columns: .columns { .columns($0) }
    case .group: .keyPaths { .group($0) }
    case .having: .predicate { .having($0) }
    case .distinct: .flag { .distinct($0) }
    case .times: .number { .times($0) }
    case .assignments: .assignments { .assignments($0) }
    case .removals: .assignments { .removals($0) }
    case .keep: .flag { .keep($0) }
    case .every: .number { .every($0) }
    case .array: .flag { .array($0) }
    case .redo: .flag { .redo($0) }
    case .parent: .name { .parent($0) }
    case .queue: .choice { .queue($0) }
    case .coordinator: .name { .coordinator($0) }
    case .policy: .choice { .policy($0) }
    case .merges: .flag { .merges($0) }
    case .staleness: .seconds { .staleness($0) }
    case .undoable: .flag { .undoable($0) }
    case .retains: .flag { .retains($0) }
    case .remote: .flag { .remote($0) }
    case .keys: .sortKeys { .keys($0) }
    case .remove: .name { .remove($0) }
    case .to: .text { .to($0) }
    case .context: .name { .context($0) }
    }
  }

  /// The largest value of an option of the kind `number`.
  var greatestNumber: Int { self == .times ? InputLimits.times : InputLimits.objects }

  /// The words that an option of the kind `choice` may have; empty for the others.
  package var choices: [String] {
    if case .choice(let words, _) = kind { words } else { [] }
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
    case .times, .assignments, .removals, .keep, .every, .array, .redo, .parent, .queue,
      .coordinator, .policy, .merges, .staleness, .undoable, .retains, .remote, .keys, .remove,
      .to, .context:
      nil
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

extension OptionWord {
  /// What it does, in a few words, for help and for editors.
  package var summary: String {
    switch self {
    case .predicate: "which rows match, as NSPredicate's format"
    case .sort: "the order, `-` for descending"
    case .limit: "the most objects"
    case .offset: "objects passed over"
    case .batch: "objects loaded at a time"
    case .prefetch: "relationships loaded ahead"
    case .values: "whether rows come with the fetch"
    case .faults: "whether objects stay faults"
    case .pending: "whether unsaved changes are laid over the result"
    case .subentities: "whether objects of subentities match"
    case .result: "what the fetch brings"
    case .columns: "what each dictionary contains"
    case .group: "what dictionaries are grouped by"
    case .having: "which groups match"
    case .distinct: "whether equal dictionaries come once"
    case .times: "how many"
    case .assignments: "keys and the values or results they get"
    case .removals: "to-many relationships and the results that leave them"
    case .keep: "whether unsaved changes are kept"
    case .every: "one of so many objects"
    case .array: "whether an array is made of the list first"
    case .redo: "whether changes are made again"
    case .parent: "the context it reads from and saves to"
    case .queue: "the queue of the context"
    case .coordinator: "the name of its coordinator"
    case .policy: "the merge policy"
    case .merges: "whether it merges by itself what others save"
    case .staleness: "seconds until a cached row is too old; -1 is never"
    case .undoable: "whether it has an undo manager"
    case .retains: "whether it retains registered objects"
    case .remote: "whether a save is merged by its IDs"
    case .keys: "attributes and to-one relationships, `-` for descending"
    case .remove: "the name of the index to drop"
    case .to: "`current`, `none` or a context; of a pragma its value"
    case .context: "the context's name"
    }
  }

  /// What it does behind a verb, where that isn't what it does behind the others.
  package func summary(of verb: Verb) -> String {
    switch (self, verb) {
    case (.assignments, .relate): "to-many relationships and the results that join them"
    case (.to, .pin): "`current`, `none` or a context"
    case (.to, .pragma): "the pragma's value"
    case (.sort, .walk): "the order that objects are put in first, in memory; `-` for descending"
    default: summary
    }
  }

  /// An example of the word behind a verb.
  package func example(of verb: Verb) -> String {
    switch (self, verb) {
    case (.assignments, .relate): "with moods new"
    case (.to, .pragma): "to 100"
    default: example
    }
  }
}

/// What a fetch brings: `result ids`.
package enum ResultKind: String, CaseIterable, Sendable {
  case objects
  case ids
  case count
  case dictionaries
}

/// The queue of a context: `queue main`.
package enum ContextQueue: String, CaseIterable, Sendable {
  case main
  case background
}

/// A merge policy as a step names it: `policy overwrite`.
package enum MergePolicyName: String, CaseIterable, Sendable {
  case error
  case rollback
  case overwrite
  /// By property; the store's value stands where both changed.
  case store
  /// By property; the object's value stands where both changed.
  case object

  /// The policy.
  package var policy: NSMergePolicy {
    switch self {
    case .error: .error
    case .rollback: .rollback
    case .overwrite: .overwrite
    case .store: .mergeByPropertyStoreTrump
    case .object: .mergeByPropertyObjectTrump
    }
  }
}

/// Yes and no, as YAML 1.1 and people write them.
package enum Flag {
  /// The words for yes.
  static let affirmative = ["yes", "true", "on"]
  /// The words for no.
  static let negative = ["no", "false", "off"]

  /// True for yes, true and on, false for no, false and off, whatever their case; nil for the rest.
  package static func value(of text: String) -> Bool? {
    let word = text.lowercased()
    if affirmative.contains(word) { return true }
    return negative.contains(word) ? false : nil
  }
}
