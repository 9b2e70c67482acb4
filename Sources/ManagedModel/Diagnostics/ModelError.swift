package import Foundation

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
}

extension ModelErrors: CustomStringConvertible {
  /// The errors, one per line.
  package var description: String {
    errors.map(\.description).joined(separator: "\n")
  }
}

/// Describes errors of the file system.
///
/// Foundation's own descriptions ("The operation could not be completed") name neither the file nor
/// the cause. No other code describes an `errno`.
package enum FileErrorText {
  /// Returns the system's message for an `errno`, such as `no space left on device`.
  package static func words(_ code: Int32) -> String {
    let text = String(cString: strerror(code))
    return text.prefix(1).lowercased() + text.dropFirst()
  }

  /// Returns an error's description or, for a Foundation error without one, the system's message
  /// for its cause, with the file.
  package static func of(_ error: any Error) -> String {
    let error = error as NSError
    if let text = error.userInfo[NSLocalizedDescriptionKey] as? String, !isVague(text) {
      return text
    }
    guard let code = errno(of: error) else {
      let text = error.localizedDescription
      return isVague(text) ? "the system reports \(error.domain) error \(error.code)" : text
    }
    let path =
      error.userInfo[NSFilePathErrorKey] as? String
      ?? (error.userInfo[NSURLErrorKey] as? URL)?.relativePath
    return path.map { "\($0): \(words(code))" } ?? words(code)
  }

  /// Returns the underlying `errno` of an error, or `nil` if it has none.
  package static func errno(of error: NSError) -> Int32? {
    if error.domain == NSPOSIXErrorDomain { return Int32(exactly: error.code) }
    if let cause = error.userInfo[NSUnderlyingErrorKey] as? any Error {
      let cause = cause as NSError
      if cause !== error, let code = errno(of: cause) { return code }
    }
    guard error.domain == NSCocoaErrorDomain else { return nil }
    return causes[error.code]
  }

  /// The `errno` for each error code that Foundation throws without an underlying error.
  private static let causes: [Int: Int32] = [
    CocoaError.Code.fileNoSuchFile.rawValue: ENOENT,
    CocoaError.Code.fileReadNoSuchFile.rawValue: ENOENT,
    CocoaError.Code.fileReadNoPermission.rawValue: EACCES,
    CocoaError.Code.fileWriteNoPermission.rawValue: EACCES,
    CocoaError.Code.fileWriteFileExists.rawValue: EEXIST,
    CocoaError.Code.fileWriteOutOfSpace.rawValue: ENOSPC,
    CocoaError.Code.fileWriteVolumeReadOnly.rawValue: EROFS,
    CocoaError.Code.fileReadTooLarge.rawValue: EFBIG,
    CocoaError.Code.fileReadInvalidFileName.rawValue: EINVAL,
    CocoaError.Code.fileWriteInvalidFileName.rawValue: EINVAL,
  ]

  private static func isVague(_ text: String) -> Bool {
    text.hasPrefix("The operation could not be completed")
      || text.hasPrefix("The operation couldn")
  }
}
