/// One option of a step with its value.
package enum StepOption: Sendable, Hashable {
  /// `where`: a predicate's format.
  case predicate(String)
  case sort([SortKey])
  case limit(StepNumber)
  case offset(StepNumber)
  case batch(StepNumber)
  case prefetch([String])
  case values(Bool)
  case faults(Bool)
  case pending(Bool)
  case subentities(Bool)
  case result(ResultKind)
  case columns([FetchColumn])
  case group([String])
  /// A predicate's format on groups.
  case having(String)
  case distinct(Bool)
  /// How many objects to insert.
  case times(StepNumber)
  /// `with`: values to give.
  case assignments([Assignment])
  /// Whether a refresh keeps unsaved changes.
  case keep(Bool)
  /// `without`: what to take out of to-many relationships.
  case removals([Assignment])
  /// Every so many objects of a walk.
  case every(StepNumber)
  /// Whether a walk makes an array of the list first.
  case array(Bool)
  /// Whether changes that were taken back are made again.
  case redo(Bool)
  /// The context to read from and save to.
  case parent(String)
  case queue(ContextQueue)
  /// The name of a coordinator.
  case coordinator(String)
  case policy(MergePolicyName)
  /// Whether a context merges by itself what others save.
  case merges(Bool)
  /// Seconds.
  case staleness(Double)
  case undoable(Bool)
  case retains(Bool)
  /// Whether a merge goes by IDs, as after a save of another process.
  case remote(Bool)
  /// The keys of an index.
  case keys([SortKey])
  /// The name of an index to drop.
  case remove(String)
  /// A generation to pin to, or a pragma's value.
  case to(String)
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
    case .columns: .columns
    case .group: .group
    case .having: .having
    case .distinct: .distinct
    case .times: .times
    case .assignments: .assignments
    case .keep: .keep
    case .removals: .removals
    case .every: .every
    case .array: .array
    case .redo: .redo
    case .parent: .parent
    case .queue: .queue
    case .coordinator: .coordinator
    case .policy: .policy
    case .merges: .merges
    case .staleness: .staleness
    case .undoable: .undoable
    case .retains: .retains
    case .remote: .remote
    case .keys: .keys
    case .remove: .remove
    case .to: .to
    case .context: .context
    }
  }

  /// The value as it is written on a shell line.
  package var valueText: String {
    switch self {
    case .predicate(let format), .having(let format): LineWords.quoted(format)
    case .sort(let keys), .keys(let keys):
      keys.map { LineWords.plain($0.description) }.joined(separator: ", ")
    case .limit(let number), .offset(let number), .batch(let number), .times(let number),
      .every(let number):
      number.text
    case .staleness(let seconds):
      seconds == seconds.rounded() ? String(Int(seconds)) : String(seconds)
    case .columns(let columns):
      columns.map { LineWords.plain($0.description) }.joined(separator: ", ")
    case .prefetch(let keyPaths), .group(let keyPaths):
      keyPaths.map(LineWords.plain).joined(separator: ", ")
    case .values(let flag), .faults(let flag), .pending(let flag), .subentities(let flag),
      .distinct(let flag), .keep(let flag), .array(let flag), .redo(let flag), .merges(let flag),
      .undoable(let flag),
      .retains(let flag), .remote(let flag):
      flag ? "yes" : "no"
    case .result(let kind): kind.rawValue
    case .queue(let queue): queue.rawValue
    case .policy(let policy): policy.rawValue
    case .assignments(let assignments), .removals(let assignments):
      assignments.map { "\(LineWords.plain($0.key)) \(LineWords.plain($0.value))" }
        .joined(separator: ", ")
    case .context(let name), .parent(let name), .coordinator(let name), .remove(let name),
      .to(let name):
      LineWords.plain(name)
    }
  }
}
