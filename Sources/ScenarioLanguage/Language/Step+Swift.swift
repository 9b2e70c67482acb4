import ModelCode

extension Step {
  /// The Swift lines that create and execute the fetch request.
  ///
  /// Empty for steps other than `fetch` and `count`.
  ///
  /// Properties with default values are omitted.
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

  /// Returns the Swift lines that create the request, without the line that executes it.
  ///
  /// - Parameters:
  ///   - result: The generic argument of the request, such as `NSManagedObject`.
  ///   - name: The name of the request's variable.
  ///   - value: A closure that returns the expression for a result that the predicate refers to.
  func requestLines(
    of result: String, named name: String = "request",
    value: (ResultReference) -> String = Step.value
  ) -> [String] {
    ["let \(name) = NSFetchRequest<\(result)>(entityName: \(SwiftNames.literal(subject)))"]
      + columnsSwift
      + options.compactMap { option in
        option.word == .predicate
          ? predicateSwift(value: value).map { "\(name).predicate = \($0)" }
          : option.requestSwift(name)
      }
  }

  /// Returns the Swift expression for the predicate, or `nil` if the step has none.
  ///
  /// - Parameter value: A closure that returns the expression for a result that the predicate
  ///   refers to.
  func predicateSwift(value: (ResultReference) -> String) -> String? {
    predicateFormat.map { format in
      let arguments = [SwiftNames.literal(format)] + predicateReferences.map(value)
      return "NSPredicate(format: \(arguments.joined(separator: ", ")))"
    }
  }

  /// Returns the only object of a result, or the result itself.
  private static func value(of reference: ResultReference) -> String {
    identifier(reference.name) + (reference.isList ? "" : "[0]")
  }

  /// The Swift lines that create the expression descriptions for the functions among the columns.
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

  /// Returns a name as a Swift identifier: `my-moods` becomes `my_moods`.
  private static func identifier(_ name: String) -> String {
    String(name.map { $0 == "-" ? "_" : $0 })
  }
}

extension StepOption {
  /// Returns the Swift line that sets the option on a request, or `nil` if the request has no such
  /// property.
  fileprivate func requestSwift(_ name: String) -> String? {
    guard let property = word.requestProperty, let value = valueSwift else { return nil }
    return "\(name).\(property) = \(value)"
  }

  private var valueSwift: String? {
    switch value {
    case .predicate(let format): "NSPredicate(format: \(SwiftNames.literal(format)))"
    case .sortKeys(let keys): keys.swift
    case .number(let number): number.value.map(String.init)
    case .keyPaths(let keyPaths):
      "[" + keyPaths.map(SwiftNames.literal).joined(separator: ", ") + "]"
    case .columns(let columns):
      "["
        + columns.map { $0.function == nil ? SwiftNames.literal($0.keyPath) : $0.name }
        .joined(separator: ", ") + "]"
    case .flag(let flag): String(flag)
    case .choice(let word):
      // Objects are the default result type, and counting uses `count(for:)`.
      switch ResultKind(rawValue: word) {
      case .ids: ".managedObjectIDResultType"
      case .dictionaries: ".dictionaryResultType"
      case .objects, .count, nil: nil
      }
    case .seconds, .assignments, .name, .text: nil
    }
  }
}

extension Step {
  /// Whether a key of `sort` compares strings in the order of a language.
  var sortsInLocalizedOrder: Bool {
    sortKeys(of: .sort)?.contains(where: \.isLocalized) ?? false
  }
}

extension [SortKey] {
  /// The Swift expression for the sort descriptors.
  ///
  /// Apple's selector is an Objective-C one; the exported program declares the name
  /// `localizedStandardCompare` for it.
  var swift: String {
    let descriptors = map { key in
      "NSSortDescriptor(key: \(SwiftNames.literal(key.keyPath)), ascending: \(key.isAscending)"
        + (key.isLocalized ? ", selector: .localizedStandardCompare)" : ")")
    }
    return "[\(descriptors.joined(separator: ", "))]"
  }
}
