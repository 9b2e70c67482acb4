package import OpenCoreData

/// A scenario file, read and checked: data, shared steps, and variants that say only their difference.
package struct Scenario: Sendable {
  package var name: String
  package var file: URL
  /// The file as it was given; the file of every call site.
  package var path: String
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

  /// A name for files: the scenario file's own, without its extension.
  package var fileName: String {
    file.deletingPathExtension().lastPathComponent
  }
}
