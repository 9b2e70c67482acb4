import ManagedModel
import WorkbenchText

/// The keywords of a step's options, for both shell lines and YAML.
///
/// The order of the cases is the order in which a step's options are stored and printed.
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
  case refreshes
  case sections
  case cache
  case delegate
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
  case way
  case mapping
  case context = "in"

  /// The kind of value that an option takes.
  ///
  /// `OptionValue` has a case for each kind.
  package enum Kind: Sendable {
    case predicate
    case sortKeys
    case number
    /// A number that may be negative or have a fraction.
    case seconds
    case keyPaths
    /// Key paths and aggregate functions of key paths.
    case columns
    case flag
    /// One of a fixed set of words.
    case choice
    case assignments
    case name
    /// Text, such as the value of a pragma.
    case text
  }

  /// The kind of the option's value.
  package var kind: Kind { entry.kind }

  /// The valid values of an option of kind `choice`.
  ///
  /// Empty for other kinds.
  package var choices: [String] { entry.choices }

  /// The `NSFetchRequest` property that the option sets, or `nil` if it sets none.
  package var requestProperty: String? { entry.property }

  /// A short description of the option for help and editors.
  package var summary: String { entry.summary }

  /// An example of the option with a value, for errors.
  package var example: String { "\(rawValue) \(entry.example)" }

  /// The valid values of an option of kind `number`.
  package var numbers: ClosedRange<Int> {
    switch self {
    case .times: 0...InputLimits.times
    // A walk by 0 would never end; `limit 0` means that there's no limit.
    case .every: 1...InputLimits.objects
    default: 0...InputLimits.objects
    }
  }

  /// Returns a short description of the option for a verb.
  package func summary(of verb: Verb) -> String {
    switch (self, verb) {
    case (.assignments, .relate): "to-many relationships and the results to add to them"
    case (.assignments, .batchUpdate): "keys and new values; after `=`, an expression for each row"
    case (.times, .finishMigration):
      "the number of units, each one transaction; by default, all of them"
    case (.to, .pin): "`current`, `none`, or a context"
    case (.to, .pragma): "the pragma's value"
    case (.sort, .walk): "the order to sort the objects in first, in memory; `-` for descending"
    default: summary
    }
  }

  /// Returns an example of the option for a verb.
  package func example(of verb: Verb) -> String {
    switch (self, verb) {
    case (.assignments, .relate): "with moods new"
    case (.assignments, .batchUpdate): "with latitude = \"latitude + 1\""
    case (.to, .pragma): "to 100"
    default: example
    }
  }
}

extension OptionWord {
  /// The properties of an option.
  private struct Entry {
    let kind: Kind
    let summary: String
    /// The value used in the example.
    let example: String
    let property: String?
    let choices: [String]

    init(
      _ kind: Kind, _ summary: String, example: String, property: String? = nil,
      choices: [String] = []
    ) {
      self.kind = kind
      self.summary = summary
      self.example = example
      self.property = property
      self.choices = choices
    }
  }

  /// The properties of this option.
  private var entry: Entry {
    switch self {
    case .predicate:
      Entry(
        .predicate, "which rows match, in NSPredicate's format", example: "\"date > 0\"",
        property: "predicate")
    case .sort:
      Entry(
        .sortKeys, "the order; `-` for descending, `localized(title)` for a language's order",
        example: "date-", property: "sortDescriptors")
    case .limit:
      Entry(.number, "the maximum number of objects", example: "20", property: "fetchLimit")
    case .offset:
      Entry(.number, "the number of objects to skip", example: "20", property: "fetchOffset")
    case .batch:
      Entry(.number, "the number of objects in a batch", example: "20", property: "fetchBatchSize")
    case .prefetch:
      Entry(
        .keyPaths, "relationships to prefetch", example: "country",
        property: "relationshipKeyPathsForPrefetching")
    case .values:
      Entry(
        .flag, "whether the fetch loads property values", example: "no",
        property: "includesPropertyValues")
    case .faults:
      Entry(
        .flag, "whether objects are returned as faults", example: "no",
        property: "returnsObjectsAsFaults")
    case .pending:
      Entry(
        .flag, "whether unsaved changes are merged into the result", example: "no",
        property: "includesPendingChanges")
    case .subentities:
      Entry(
        .flag, "whether objects of subentities match", example: "no",
        property: "includesSubentities")
    case .result:
      Entry(
        .choice, "what the fetch returns", example: "ids", property: "resultType",
        choices: ResultKind.allCases.map(\.rawValue))
    case .columns:
      Entry(
        .columns, "what each dictionary contains", example: "country, count(date)",
        property: "propertiesToFetch")
    case .group:
      Entry(
        .keyPaths, "what dictionaries are grouped by", example: "country",
        property: "propertiesToGroupBy")
    case .having:
      Entry(
        .predicate, "which groups match", example: "\"$countDate > 2\"",
        property: "havingPredicate")
    case .distinct:
      Entry(
        .flag, "whether equal dictionaries are returned once", example: "yes",
        property: "returnsDistinctResults")
    case .refreshes:
      Entry(
        .flag, "whether objects that were registered before are refreshed", example: "yes",
        property: "shouldRefreshRefetchedObjects")
    case .sections:
      Entry(.text, "the key path of the sections' names", example: "country.name")
    case .cache: Entry(.name, "the name of the controller's cache", example: "list")
    case .delegate:
      Entry(
        .flag, "whether it has a delegate, so that its list is updated with each change",
        example: "no")
    case .times: Entry(.number, "the number of objects, rows, or change groups", example: "20")
    case .assignments: Entry(.assignments, "keys and their new values", example: "latitude 1.5")
    case .removals:
      Entry(
        .assignments, "to-many relationships and the results to remove from them",
        example: "moods old")
    case .keep: Entry(.flag, "whether unsaved changes are kept", example: "no")
    case .every: Entry(.number, "visit only every Nth object", example: "20")
    case .array: Entry(.flag, "whether the result is copied to an array first", example: "yes")
    case .redo: Entry(.flag, "whether changes are redone", example: "yes")
    case .parent: Entry(.name, "the parent context", example: "main")
    case .queue:
      Entry(
        .choice, "the queue of the context", example: "main",
        choices: ContextQueue.allCases.map(\.rawValue))
    case .coordinator: Entry(.name, "the name of its coordinator", example: "second")
    case .policy:
      Entry(
        .choice, "the merge policy", example: "overwrite",
        choices: MergePolicyName.allCases.map(\.rawValue))
    case .merges:
      Entry(.flag, "whether saves of other contexts are merged automatically", example: "yes")
    case .staleness:
      Entry(
        .seconds, "seconds after which a cached row is stale; -1 for never", example: "0")
    case .undoable: Entry(.flag, "whether it has an undo manager", example: "yes")
    case .retains: Entry(.flag, "whether it retains registered objects", example: "yes")
    case .remote: Entry(.flag, "whether a save is merged by its object IDs", example: "yes")
    case .keys:
      Entry(
        .sortKeys, "attributes and to-one relationships; `-` for descending",
        example: "country, date-")
    case .remove: Entry(.name, "the name of the index to drop", example: "byDate")
    case .to: Entry(.text, "`current`, `none`, or a context; a pragma's value", example: "current")
    case .way:
      Entry(
        .choice, "how to migrate; by default, in one inferred step", example: "progressive",
        choices: MigrationMethod.allCases.map(\.rawValue))
    case .mapping:
      Entry(
        .text, "the mapping model, a file next to the model", example: "Shop1to2.xcmappingmodel")
    case .context: Entry(.name, "the context's name", example: "main")
    }
  }
}

/// The kind of result that a fetch returns, such as `result ids`.
package enum ResultKind: String, CaseIterable, Sendable {
  case objects
  case ids
  case count
  case dictionaries
}

/// What a step does with a store's persistent history, such as `history purge`.
package enum HistoryAction: String, CaseIterable, Sendable {
  /// Reopens the store with history tracking.
  case track
  /// Deletes all transactions.
  case purge
}

/// The queue of a context, such as `queue main`.
package enum ContextQueue: String, CaseIterable, Sendable {
  case main
  case background
}

/// The way in which a step migrates a store, such as `way staged`.
package enum MigrationMethod: String, CaseIterable, Sendable {
  /// In one inferred step that defers the removal of columns, tables, and indexes.
  case deferred
  /// From version to version, with the mapping models that exist for them.
  case progressive
  /// With a staged migration manager whose only stage is lightweight and has all versions.
  case staged
  /// With a staged migration manager that has a custom stage, with empty handlers, from each
  /// version to the next.
  case custom
}

/// The name of a merge policy in a step, such as `policy overwrite`.
package enum MergePolicyName: String, CaseIterable, Sendable {
  case error
  case rollback
  case overwrite
  /// Merges by property. The store's value takes precedence if both changed.
  case store
  /// Merges by property. The object's value takes precedence if both changed.
  case object
}

/// Boolean literals, including those of YAML 1.1.
package enum Flag {
  /// The literals for `true`.
  package static let affirmative = ["yes", "true", "on"]
  /// The literals for `false`.
  package static let negative = ["no", "false", "off"]

  /// Returns the Boolean value of a literal, ignoring case, or `nil` if the text isn't one.
  package static func value(of text: String) -> Bool? {
    let word = text.lowercased()
    if affirmative.contains(word) { return true }
    return negative.contains(word) ? false : nil
  }
}
