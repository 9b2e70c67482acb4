import ManagedModel

/// A Swift file that a model was written as.
package struct GeneratedFile: Sendable, Equatable {
  /// The name, ending included.
  package let name: String
  /// The text, which begins with `marker`.
  package let text: String

  /// What the first line of every generated file begins with.
  ///
  /// A file that does not begin with it was written by hand and is never replaced.
  package static let marker = "// Written by cdprof generate"

  /// `isPublic` says whether a public declaration of the body names something of the framework's.
  init(name: String, body: String, model: String, isPublic: Bool) {
    self.name = name
    // Names of the model may have characters that hide code from a reader.
    text = PrintableText.escaped(
      """
      \(GeneratedFile.marker) from \(PrintableText.line(model)). Changes are lost.

      \(isPublic ? "public import" : "import") OpenCoreData

      \(body)
      """)
  }
}
