/// One thing that is wrong with a model, and where.
package struct ModelError: Error, Sendable, Hashable {
  /// The file, as it was given, or nil for a model that was not read from a file.
  package var file: String?
  /// The line in the file, counted from 1.
  package var line: Int?
  /// The column in the line, in characters, counted from 1.
  package var column: Int?
  /// The name of the entity that is wrong.
  package var entity: String?
  /// The name of the property of `entity` that is wrong.
  package var property: String?
  /// What is wrong, as one sentence.
  package var message: String
  /// What to do about it, as one sentence.
  package var nextStep: String?
  /// Whether the model can be used all the same.
  package var isWarning: Bool

  /// Makes an error.
  ///
  /// - Parameters:
  ///   - message: What is wrong, as one sentence.
  ///   - nextStep: What to do about it, as one sentence.
  ///   - entity: The name of the entity that is wrong.
  ///   - property: The name of the property that is wrong.
  ///   - file: The file.
  ///   - line: The line in the file, counted from 1.
  ///   - column: The column in the line, counted from 1.
  ///   - isWarning: Whether the model can be used all the same.
  package init(
    _ message: String, nextStep: String? = nil, entity: String? = nil, property: String? = nil,
    file: String? = nil, line: Int? = nil, column: Int? = nil, isWarning: Bool = false
  ) {
    self.message = message
    self.nextStep = nextStep
    self.entity = entity
    self.property = property
    self.file = file
    self.line = line
    self.column = column
    self.isWarning = isWarning
  }
}

extension ModelError: CustomStringConvertible {
  /// The error on one line: place, entity and property, message, what to do.
  ///
  /// An example is `Zoo.xcdatamodel/contents:12:7: Animal.keeper: There is no entity Keper. Did you
  /// mean Keeper?`
  package var description: String {
    var place = file ?? ""
    if let line { place += ":\(line)" }
    if line != nil, let column { place += ":\(column)" }
    let subject = [entity, property].compactMap { $0 }.joined(separator: ".")
    let text = nextStep.map { "\(message) \($0)" } ?? message
    return PrintableText.line(
      [place, subject, text].filter { !$0.isEmpty }.joined(separator: ": "))
  }
}

extension ModelError {
  /// Whether this one says already what another would: of the same property, or in the same words.
  func covers(_ other: ModelError) -> Bool {
    entity == other.entity && property == other.property
      && (other.property != nil || message == other.message)
  }
}
