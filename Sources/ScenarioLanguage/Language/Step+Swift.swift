import ModelCode

extension Step {
  /// The fetch as Swift, line by line; empty for other steps.
  ///
  /// What stands at its default is left out.
  package var requestSwift: [String] {
    guard verb == .fetch || verb == .count else { return [] }
    let result =
      switch resultKind {
      case .ids: "NSManagedObjectID"
      case .dictionaries: "NSDictionary"
      case .objects, .count: "NSManagedObject"
      }
    return requestLines(of: result) + [executionSwift]
  }

  /// The lines that make the request, without the one that executes it.
  ///
  /// - Parameters:
  ///   - result: what the request is of: `NSManagedObject`.
  ///   - name: what the request is called.
  func requestLines(of result: String, named name: String = "request") -> [String] {
    ["let \(name) = NSFetchRequest<\(result)>(entityName: \(SwiftNames.literal(subject)))"]
      + columnsSwift + options.compactMap { $0.requestSwift(name) }
  }

  /// What describes the functions among the columns, before the request takes them.
  private var columnsSwift: [String] {
    guard let columns = columns(of: .columns) else { return [] }
    return columns.flatMap { column -> [String] in
      guard let function = column.function else { return [] }
      let type: String? =
        switch function {
        case .count: ".integer64AttributeType"
        case .average: ".doubleAttributeType"
        case .sum, .min, .max: nil
        }
      let name = column.name
      return [
        "let \(name) = NSExpressionDescription()", "\(name).name = \(SwiftNames.literal(name))",
        "\(name).expression = NSExpression(format: \"\(function.rawValue):(\(column.keyPath))\")",
      ] + (type.map { ["\(name).expressionResultType = \($0)"] } ?? [])
    }
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
  /// The line that sets the option on a request of a name; nil when it isn't an option of a request.
  fileprivate func requestSwift(_ name: String) -> String? {
    guard let property = word.requestProperty, let value = valueSwift else { return nil }
    return "\(name).\(property) = \(value)"
  }

  private var valueSwift: String? {
    switch value {
    case .predicate(let format): "NSPredicate(format: \(SwiftNames.literal(format)))"
    case .sortKeys(let keys):
      "["
        + keys.map {
          "NSSortDescriptor(key: \(SwiftNames.literal($0.keyPath)), ascending: \($0.isAscending))"
        }.joined(separator: ", ") + "]"
    case .number(let number): number.value.map(String.init)
    case .keyPaths(let keyPaths):
      "[" + keyPaths.map(SwiftNames.literal).joined(separator: ", ") + "]"
    case .columns(let columns):
      "["
        + columns.map { $0.function == nil ? SwiftNames.literal($0.keyPath) : $0.name }
        .joined(separator: ", ") + "]"
    case .flag(let flag): String(flag)
    case .choice(let word):
      // Objects are the default, and a count isn't the result of a request here.
      switch ResultKind(rawValue: word) {
      case .ids: ".managedObjectIDResultType"
      case .dictionaries: ".dictionaryResultType"
      case .objects, .count, nil: nil
      }
    case .seconds, .assignments, .name, .text: nil
    }
  }
}
