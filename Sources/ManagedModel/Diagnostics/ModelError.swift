/// An error or a warning about a model, with its position.
package struct ModelError: Error, Sendable, Hashable {
  /// The file, as passed to the reader, or `nil` for a model that wasn't read from a file.
  package var file: String?
  /// The line in the file, counted from 1.
  package var line: Int?
  /// The column in the line, in characters, counted from 1.
  package var column: Int?
  /// The name of the affected entity.
  package var entity: String?
  /// The name of the affected property of `entity`.
  package var property: String?
  /// The problem, as a sentence.
  package var message: String
  /// What to do about it, as a sentence.
  package var nextStep: String?
  /// Whether the model can be used despite the problem.
  package var isWarning: Bool
  /// Whether a file or folder exists, but can't be read, so that it isn't known what it contains.
  package var isUnreadable = false

  /// Creates an error.
  ///
  /// - Parameters:
  ///   - message: The problem, as a sentence.
  ///   - nextStep: What to do about it, as a sentence.
  ///   - entity: The name of the affected entity.
  ///   - property: The name of the affected property.
  ///   - file: The file.
  ///   - line: The line in the file, counted from 1.
  ///   - column: The column in the line, counted from 1.
  ///   - isWarning: Whether the model can be used despite the problem.
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

extension ModelError {
  /// The message about a model whose predicates and expressions are too long.
  static let longFormats =
    "The predicates and expressions of the model have more than \(ModelLimits.formats >> 20) MiB."
}

extension ModelError: CustomStringConvertible {
  /// The error on one line: position, entity and property, message, and next step.
  ///
  /// An example is `Zoo.xcdatamodel/contents:12:7: error: Animal.keeper: There's no entity Keper.
  /// Did you mean Keeper?`
  package var description: String {
    var location = file ?? ""
    if let line { location += ":\(line)" }
    if line != nil, let column { location += ":\(column)" }
    let subject = [entity, property].compactMap { $0 }.joined(separator: ".")
    let text = nextStep.map { "\(message) \($0)" } ?? message
    // This is the format of compilers, in which editors and CI find the location.
    let kind = location.isEmpty ? "" : isWarning ? "warning" : "error"
    return PrintableText.line(
      [location, kind, subject, text].filter { !$0.isEmpty }.joined(separator: ": "))
  }
}

extension ModelError {
  /// Returns whether this error makes another one redundant: it concerns the same property, or it
  /// has the same message.
  func covers(_ other: ModelError) -> Bool {
    entity == other.entity && property == other.property
      && (other.property != nil || message == other.message)
  }
}

/// All errors of a model, at least one.
package struct ModelErrors: Error, Sendable, Hashable {
  /// The errors, in the order of the file.
  package let errors: [ModelError]

  /// Creates a list of errors.
  ///
  /// - Parameter errors: At least one error.
  package init(_ errors: [ModelError]) {
    guard !errors.isEmpty else { fatalError("ModelErrors needs at least one error.") }
    self.errors = errors
  }

  /// Creates a list that contains one error.
  ///
  /// - Parameter error: The error.
  package init(_ error: ModelError) {
    self.init([error])
  }

  /// Whether a file or folder exists, but can't be read, so that it isn't known what it contains.
  package var isUnreadable: Bool { errors.contains { $0.isUnreadable } }
}

extension ModelErrors: CustomStringConvertible {
  /// The errors, one per line.
  package var description: String {
    errors.map(\.description).joined(separator: "\n")
  }
}
