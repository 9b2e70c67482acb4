import OpenCoreData
import WorkbenchText

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

/// One sort descriptor as it is written: `date-`, `country.name`.
package struct SortKey: Sendable, Hashable, CustomStringConvertible {
  package var keyPath: String
  package var isAscending: Bool

  package init(keyPath: String, isAscending: Bool = true) {
    self.keyPath = keyPath
    self.isAscending = isAscending
  }

  /// Reads `key`, `key+` (the same) or `key-` (descending); nil when no key is left.
  package init?(_ text: String) {
    let isMarked = text.hasSuffix("-") || text.hasSuffix("+")
    let keyPath = isMarked ? String(text.dropLast()) : text
    guard !keyPath.isEmpty else { return nil }
    self.init(keyPath: keyPath, isAscending: !text.hasSuffix("-"))
  }

  package var description: String {
    isAscending ? keyPath : keyPath + "-"
  }
}

/// A property and the value a step gives it: `latitude 1.5`, `country countries`.
package struct Assignment: Sendable, Hashable {
  package var key: String
  /// As written; read by the property's type.
  ///
  /// For a relationship it is the name of a result.
  package var value: String

  package init(key: String, value: String) {
    self.key = key
    self.value = value
  }
}

extension Step {
  /// What `with` gives; empty without it.
  package var assignments: [Assignment] {
    if case .assignments(let assignments)? = option(.assignments) { return assignments }
    return []
  }

  /// What `without` takes; empty without it.
  package var removals: [Assignment] {
    if case .removals(let removals)? = option(.removals) { return removals }
    return []
  }
}

/// What a dictionary of a fetch holds, as it is written: `country.name`, `count(date)`.
package struct FetchColumn: Sendable, Hashable, CustomStringConvertible {
  /// A function of the rows of a group.
  package enum Function: String, CaseIterable, Sendable {
    case count
    case sum
    case min
    case max
    case average
  }

  /// Nil for a value as it is.
  package var function: Function?
  package var keyPath: String

  package init(function: Function? = nil, keyPath: String) {
    self.function = function
    self.keyPath = keyPath
  }

  /// Reads a column.
  ///
  /// - Throws: a problem at an unknown function, or at a bracket that is not closed.
  init(_ word: Word) throws(LanguageProblem) {
    guard let opening = word.text.firstIndex(of: "(") else {
      self.init(keyPath: word.text)
      return
    }
    let name = String(word.text[..<opening])
    let functions = Function.allCases.map(\.rawValue)
    guard let function = Function(rawValue: name) else {
      throw LanguageProblem(
        "there's no function `\(name)` of a group", at: word.place(at: 0, length: name.count),
        didYouMean: NearestName.of(name, among: functions),
        nextStep: "write one of: \(functions.joined(separator: ", "))")
    }
    let inner = word.text[word.text.index(after: opening)...]
    guard inner.last == ")", inner.count > 1 else {
      throw LanguageProblem(
        "`\(name)` needs a key path in parentheses", at: word.place,
        nextStep: "write for example `\(name)(date)`")
    }
    self.init(function: function, keyPath: String(inner.dropLast()))
  }

  package var description: String {
    function.map { "\($0.rawValue)(\(keyPath))" } ?? keyPath
  }

  /// The key of the value in the dictionaries: `countDate` for `count(date)`, else the key path.
  package var name: String {
    guard let function else { return keyPath }
    let parts = keyPath.split(separator: ".").map { $0.prefix(1).uppercased() + $0.dropFirst() }
    return function.rawValue + parts.joined()
  }

  /// The type of a function's values; nil for that of the key path.
  var resultType: NSAttributeType? {
    switch function {
    case .count: .integer64AttributeType
    case .average: .doubleAttributeType
    case .sum, .min, .max, nil: nil
    }
  }

  /// What `propertiesToFetch` takes for it.
  package var property: Any {
    guard let function else { return keyPath }
    let description = NSExpressionDescription()
    description.name = name
    description.expression = NSExpression(
      forFunction: "\(function.rawValue):", arguments: [NSExpression(forKeyPath: keyPath)])
    if let resultType { description.expressionResultType = resultType }
    return description
  }
}
