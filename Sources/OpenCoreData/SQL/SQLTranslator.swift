import ManagedModel
import SQLiteDriver

/// Writes SQL in Apple's spacing for fetches, faults, prefetches and saves.
///
/// No method touches a database.
struct SQLTranslator: Sendable {
  let model: SQLModel

  /// Tells the key of a managed object or object ID, nil for any other value.
  let objectKey: @Sendable (Any) -> ObjectKey?

  /// Turns a value into what the column of a transformable attribute holds, nil if it cannot.
  let transformed: @Sendable (NSAttributeDescription, Any) -> SQLiteValue?

  /// What was translated before.
  let cache = TranslationCache()

  /// - Parameters:
  ///   - model: The model as the file has it.
  ///   - objectKey: Tells the key of a managed object or object ID, nil for any other value.
  ///   - transformed: Turns a value into what a transformable attribute's column holds.
  init(
    model: SQLModel,
    objectKey: @escaping @Sendable (Any) -> ObjectKey? = { _ in nil },
    transformed: @escaping @Sendable (NSAttributeDescription, Any) -> SQLiteValue? = { _, _ in nil }
  ) {
    self.model = model
    self.objectKey = objectKey
    self.transformed = transformed
  }
}
