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
    case .subentities: "whether objects of sub-entities match"
    case .result: "what the fetch brings"
    case .columns: "what each dictionary holds"
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
