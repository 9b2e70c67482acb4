import ManagedModel

/// A generated Swift file.
package struct GeneratedFile: Sendable, Equatable {
  /// The name, including its extension.
  package let name: String
  /// The source code, which begins with `marker`.
  package let text: String

  /// The beginning of the first line of every generated file.
  ///
  /// A file that doesn't begin with it is handwritten and is never replaced.
  package static let marker = "// Written by cdprof generate"

  /// Creates a file.
  ///
  /// `isPublic` indicates whether a public declaration of the body refers to a type of the
  /// framework.
  init(name: String, body: String, model: String, isPublic: Bool) {
    self.name = name
    // Names in the model can contain characters that hide code from a reader.
    text = PrintableText.escaped(
      """
      \(GeneratedFile.marker) from \(PrintableText.line(model)). Changes are lost.

      \(isPublic ? "public import" : "import") OpenCoreData

      \(body)
      """)
  }
}
