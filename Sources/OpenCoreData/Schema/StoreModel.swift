package import ManagedModel
import SQLiteDriver

/// The model that a store is read with when nothing but its file is given.
package struct StoreModel: Sendable {
  /// The model in `Z_MODELCACHE`, or one that was read off the tables.
  package let model: NSManagedObjectModel
  /// Whether it was read off the tables, so that names of properties and destinations of
  /// relationships are guesses.
  package let isGuessed: Bool
  /// Why the store's own model is not used; nil when it is, and when the store carries none.
  package let problem: String?

  /// Reads the model of a store that is looked at.
  ///
  /// - Throws: 134080 with a sentence when the file is no usable store.
  package static func ofStore(at url: URL) throws -> StoreModel {
    try NSManagedObjectModel.looking(at: url) { try StoreModel(reading: $0) }
  }

  /// Reads the store's own model; makes one of the tables when there is none, or a damaged one.
  ///
  /// One statement, and those of the schema when there is no model.
  ///
  /// - Throws: `SQLiteError`.
  init(reading connection: Connection) throws {
    do {
      if let model = try ModelArchive.readModel(on: connection) {
        self.model = model
        isGuessed = false
        problem = nil
        return
      }
      problem = nil
    } catch let error as SQLiteError {
      throw error
    } catch {
      problem = "\(error)"
    }
    isGuessed = true
    model = try GuessedModel.read(from: connection)
  }
}
