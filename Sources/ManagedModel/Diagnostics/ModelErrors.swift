/// Everything that is wrong with a model: at least one error.
package struct ModelErrors: Error, Sendable, Hashable {
  /// The errors in the order of the file.
  package let errors: [ModelError]

  /// Makes the list.
  ///
  /// - Parameter errors: At least one error.
  package init(_ errors: [ModelError]) {
    precondition(!errors.isEmpty, "ModelErrors needs at least one error.")
    self.errors = errors
  }

  /// Makes a list of one error.
  ///
  /// - Parameter error: The error.
  package init(_ error: ModelError) {
    self.init([error])
  }
}

extension ModelErrors: CustomStringConvertible {
  /// The errors, one a line.
  package var description: String {
    errors.map(\.description).joined(separator: "\n")
  }
}
