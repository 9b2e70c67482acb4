import ManagedModel

/// Writes SQL in Apple's spacing for fetches, faults, prefetches and saves.
///
/// A value: making one costs nothing. No method touches a database.
struct SQLTranslator: Sendable {
  let model: SQLModel

  /// Tells the key of a managed object or object ID, nil for any other value.
  let objectKey: @Sendable (Any) -> ObjectKey?

  /// - Parameters:
  ///   - model: The model as the file has it.
  ///   - objectKey: Tells the key of a managed object or object ID, nil for any other value.
  init(model: SQLModel, objectKey: @escaping @Sendable (Any) -> ObjectKey? = { _ in nil }) {
    self.model = model
    self.objectKey = objectKey
  }
}
