package import OpenCoreData
import WorkbenchText

/// A scenario file, read and checked: data, shared steps, and variants that say only their difference.
package struct Scenario: Sendable {
  package var name: String
  package var file: URL
  /// The file as it was given; the file of every call site.
  package var path: String
  /// The whole file.
  package var text = ""
  package var chapter: Int?
  package var covers: [CatalogueReference]
  package var story: String
  /// As written: a name or a path; nil when the model comes out of a copied store.
  package var modelName: String?
  package var modelURL: URL?
  package var model: NSManagedObjectModel
  package var data: DataPlan
  /// The steps all variants share.
  package var steps: [Step]
  /// At least one.
  package var variants: [Variant]
  /// Findings that the writer knows of; they do not fire.
  package var silence: [Silence] = []

  /// The expectations of all variants and of all steps.
  package var expectations: [Expectation] {
    let steps = self.steps + variants.flatMap { $0.first + $0.then }
    return variants.flatMap(\.expect.expectations)
      + steps.flatMap { $0.expect?.expectations ?? [] }
  }

  /// A name for files: the scenario file's own, without its extension; `stdin` for standard input.
  package var fileName: String {
    path == InputFile.standardInput
      ? ScenarioFinder.standardInputName : file.deletingPathExtension().lastPathComponent
  }
}
