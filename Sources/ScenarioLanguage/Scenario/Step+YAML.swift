extension Step {
  /// The step as a YAML flow map: `{fetch: Mood, sort: date-, as: moods}`.
  package var yaml: String {
    var pairs = ["\(verb.rawValue): \(YAMLText.scalar(subject))"]
    if verb.subject == .none {
      pairs = ["\(verb.rawValue): null"]
    }
    if !reads.isEmpty {
      pairs.append("\(verb.pathsKey ?? "read"): \(YAMLText.list(reads))")
    }
    pairs += options.map { "\($0.word.rawValue): \($0.yaml)" }
    if let name {
      pairs.append("as: \(YAMLText.scalar(name))")
    }
    if let fails {
      pairs.append("fails: \(fails)")
    }
    return "{\(pairs.joined(separator: ", "))}"
  }
}

extension StepOption {
  /// The value as YAML.
  var yaml: String {
    switch self {
    case .predicate(let format), .having(let format): YAMLText.scalar(format)
    case .sort(let keys), .keys(let keys):
      keys.count == 1
        ? YAMLText.scalar(keys[0].description) : YAMLText.list(keys.map(\.description))
    case .prefetch(let keyPaths), .group(let keyPaths): YAMLText.list(keyPaths)
    case .columns(let columns): YAMLText.list(columns.map(\.description))
    case .assignments(let assignments), .removals(let assignments):
      "{"
        + assignments.map { "\(YAMLText.scalar($0.key)): \(YAMLText.scalar($0.value))" }
        .joined(separator: ", ") + "}"
    case .parent(let text), .coordinator(let text), .remove(let text), .to(let text),
      .context(let text):
      YAMLText.scalar(text)
    case .limit(let number), .offset(let number), .batch(let number), .times(let number),
      .every(let number):
      number.yaml
    case .values, .faults, .pending, .subentities, .result, .distinct, .keep, .array, .redo,
      .queue, .policy, .merges, .staleness, .undoable, .retains, .remote:
      valueText
    }
  }
}

extension StepNumber {
  /// As YAML takes it: a number alone stays one.
  fileprivate var yaml: String {
    let text = expression.text
    return Int(text) == nil ? YAMLText.scalar(text) : text
  }
}
