import OpenCoreData
import WorkbenchText

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
        "there is no function `\(name)` of a group", at: word.place(at: 0, length: name.count),
        didYouMean: NearestName.of(name, among: functions),
        nextStep: "write one of: \(functions.joined(separator: ", "))")
    }
    let inner = word.text[word.text.index(after: opening)...]
    guard inner.last == ")", inner.count > 1 else {
      throw LanguageProblem(
        "`\(name)` needs a key path in brackets", at: word.place,
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
