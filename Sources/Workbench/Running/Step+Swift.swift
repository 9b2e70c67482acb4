extension Step {
  /// The fetch as Swift, line by line; empty for other steps.
  ///
  /// What stands at its default is left out.
  package var requestSwift: [String] {
    guard verb == .fetch || verb == .count else { return [] }
    let result = resultKind == .ids ? "NSManagedObjectID" : "NSManagedObject"
    let lines = ["let request = NSFetchRequest<\(result)>(entityName: \"\(subject)\")"]
    return lines + options.compactMap(\.requestSwift) + [executionSwift]
  }

  private var executionSwift: String {
    if verb == .count || resultKind == .count {
      return "let count = try context.count(for: request)"
    }
    let name = name.map(Step.identifier) ?? "objects"
    let isBatched = (number(of: .batch) ?? 0) > 0 && resultKind == .objects
    return "let \(name) = try context.\(isBatched ? "fetchBatched" : "fetch")(request)"
  }

  /// A name as Swift takes it: `my-moods` becomes `my_moods`.
  private static func identifier(_ name: String) -> String {
    String(name.map { $0 == "-" ? "_" : $0 })
  }
}

extension StepOption {
  /// The line that sets the option on a request; nil when it is no option of a request.
  fileprivate var requestSwift: String? {
    guard let property = word.requestProperty, let value = valueSwift else { return nil }
    return "request.\(property) = \(value)"
  }

  private var valueSwift: String? {
    switch self {
    case .predicate(let format): "NSPredicate(format: \(StepOption.literal(format)))"
    case .sort(let keys):
      "["
        + keys.map {
          "NSSortDescriptor(key: \(StepOption.literal($0.keyPath)), ascending: \($0.isAscending))"
        }.joined(separator: ", ") + "]"
    case .limit(let number), .offset(let number), .batch(let number): String(number)
    case .prefetch(let keyPaths):
      "[" + keyPaths.map(StepOption.literal).joined(separator: ", ") + "]"
    case .values(let flag), .faults(let flag), .pending(let flag), .subentities(let flag):
      String(flag)
    case .result(.ids): ".managedObjectIDResultType"
    default: nil
    }
  }

  private static func literal(_ text: String) -> String {
    let escaped = text.map { character in
      switch character {
      case "\"", "\\": "\\\(character)"
      case "\n": "\\n"
      default: String(character)
      }
    }
    return "\"\(escaped.joined())\""
  }
}
