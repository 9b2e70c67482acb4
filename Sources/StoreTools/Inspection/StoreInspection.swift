package import Foundation
package import WorkbenchText

/// What is in a store: entities with their rows, relationships, indexes, who wrote it, sizes.
///
/// Values only; made by `StoreInspector`, printed by `InspectionText` and `InspectionJSON`.
package struct StoreInspection: Sendable {
  /// Where names and types of properties come from.
  package enum ModelSource: String, Sendable {
    /// The model that the store carries.
    case cache
    /// The tables alone: a store keeps property names in capitals, so those are guesses.
    case schema
  }

  package var url: URL
  package var modelSource: ModelSource
  /// Why the store's model could not be used; nil when it was, or when there is none.
  package var modelProblem: String?
  package var uuid: String
  package var writer: InspectedMetadata.Writer
  /// `NSPersistenceFrameworkVersion`, Apple's or the other writer's.
  package var frameworkVersion: Int?
  /// What the model was called by whoever made the store.
  package var modelIdentifiers: [String]
  /// Whether the version hashes are this framework's digests; Apple's formula is not public.
  package var hasOwnDigests: Bool
  /// The root entities and their sub-entities, depth first, alphabetically.
  package var entities: [InspectedEntity]
  /// Rows that are none of them; nothing counts them, and reading passes them over.
  package var strayRows: [StrayRows]
  package var indexes: [InspectedIndex]
  package var files: InspectedFiles
  /// The room of tables and indexes, the largest first; nil where SQLite cannot tell.
  package var spaces: [InspectedSpace]?
  package var externalFiles: InspectedExternalFiles
  /// Nil for a store that tracks no history.
  package var history: InspectedHistory?
  /// The app's own metadata, values as texts.
  package var metadata: [(key: String, value: String)]
  /// By entity.
  package var digests: [InspectedDigest]

  /// Rows of all entities together.
  package var rowCount: Int { entities.reduce(0) { $0 + $1.ownCount } }
}
