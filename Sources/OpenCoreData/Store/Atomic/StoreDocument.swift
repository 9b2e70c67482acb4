import ManagedModel

/// A whole store as a value: what a file that is read and written whole says.
///
/// It knows no model: entities, attributes and relationships are names.
struct StoreDocument: @unchecked Sendable {
  // Unchecked: the metadata are those of a property list, which nobody changes in place.

  /// The store's identity, part of every object's URI.
  var uuid: String
  /// The property list, Apple's keys and the application's own.
  var metadata: [String: Any]
  /// The highest key given; keys are unique in the whole document.
  var lastKey: Int64
  /// By key.
  var objects: [Object] = []

  /// An object with what it has; what is nil is left out.
  struct Object {
    let entity: String
    let key: Int64
    var attributes: [Attribute] = []
    var relationships: [Relationship] = []
  }

  /// A value as it was stored.
  ///
  /// From XML it is a text, whatever the type.
  struct Attribute {
    let name: String
    let type: String
    let value: RowValue
  }

  /// The keys of an object's destinations, in their order.
  struct Relationship {
    let name: String
    let isToMany: Bool
    let destination: String
    let keys: [Int64]
  }
}

extension StoreDocument {
  /// Why a document could not be read.
  struct Problem: Error {
    let message: String
    /// The line and the column of a text, both from 1.
    let place: (line: Int, column: Int)?

    init(_ message: String, at place: (line: Int, column: Int)? = nil) {
      self.message = message
      self.place = place
    }

    /// The problem of a file, as an error of the public API.
    func error(at url: URL) -> NSError {
      let path = place.map { "\(url.path):\($0.line):\($0.column)" } ?? url.path
      return NSError.coreData(
        NSPersistentStoreOpenError, "The store \(path) cannot be read: \(message)",
        [NSFilePathErrorKey: url.path])
    }
  }
}
