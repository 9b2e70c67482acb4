import ManagedModel

/// The contents of a document as a value.
///
/// Independent of a model: entities, attributes, and relationships are names.
struct StoreDocument: @unchecked Sendable {
  // Unchecked: the metadata are those of a property list, which isn't changed in place.

  /// The store's UUID, part of every object's URI.
  var uuid: String
  /// The property list, with Core Data's keys and the application's own.
  var metadata: [String: Any]
  /// The highest key assigned; keys are unique in the whole document.
  var lastKey: Int64
  /// By key.
  var objects: [Object] = []

  /// An object with its values; `nil` values are omitted.
  struct Object {
    let entity: String
    let key: Int64
    var attributes: [Attribute] = []
    var relationships: [Relationship] = []
  }

  /// A value as it was stored.
  ///
  /// From XML it's a string, regardless of the type.
  struct Attribute {
    let name: String
    let type: String
    let value: RowValue
  }

  /// The keys of an object's destinations, in order.
  struct Relationship {
    let name: String
    let isToMany: Bool
    let destination: String
    let keys: [Int64]
  }
}

extension StoreDocument {
  /// The reason why a document can't be read.
  struct Problem: Error {
    let message: String
    /// The line and the column in the document, both counted from 1.
    let position: (line: Int, column: Int)?

    init(_ message: String, at position: (line: Int, column: Int)? = nil) {
      self.message = message
      self.position = position
    }

    /// Returns the problem of a file as an error of the public API: 259, unless another code is
    /// specified for a file whose contents aren't the cause.
    func error(
      at url: URL, code: Int = CocoaError.Code.fileReadCorruptFile.rawValue
    ) -> NSError {
      let path = position.map { "\(url.relativePath):\($0.line):\($0.column)" } ?? url.relativePath
      return NSError.coreData(
        code, "The store \(path) can't be read: \(message)",
        [NSFilePathErrorKey: url.path])
    }
  }
}

// A store as a binary property list: smaller than XML, and faster to read and to write.

extension StoreDocument {
  private typealias Value = BinaryPropertyList.Value

  fileprivate enum Key {
    static let format = "cdprof.binaryStore"
    static let uuid = "UUID"
    static let metadata = "metadata"
    static let lastKey = "lastKey"
    static let objects = "objects"
    static let entity = "entity"
    static let key = "key"
    static let attributes = "attributes"
    static let relationships = "relationships"
    static let name = "name"
    static let type = "type"
    static let value = "value"
    static let isToMany = "isToMany"
    static let destination = "destination"
    static let keys = "keys"
  }

  /// Returns the document as a binary property list.
  ///
  /// - Throws: The errors of writing the metadata.
  func propertyList() throws -> Data {
    let metadata = try PropertyList.write(metadata)
    return Data(
      BinaryPropertyList.write(
        .dictionary([
          Key.format: .integer(1), Key.uuid: .string(uuid), Key.metadata: .data(metadata),
          Key.lastKey: .integer(lastKey), Key.objects: .array(objects.map(Self.value)),
        ])))
  }

  private static func value(_ object: Object) -> Value {
    .dictionary([
      Key.entity: .string(object.entity), Key.key: .integer(object.key),
      Key.attributes: .array(
        object.attributes.map { attribute in
          .dictionary([
            Key.name: .string(attribute.name), Key.type: .string(attribute.type),
            Key.value: attribute.value.listed,
          ])
        }),
      Key.relationships: .array(
        object.relationships.map { relationship in
          .dictionary([
            Key.name: .string(relationship.name), Key.isToMany: .bool(relationship.isToMany),
            Key.destination: .string(relationship.destination),
            Key.keys: .array(relationship.keys.map { .integer($0) }),
          ])
        }),
    ])
  }

  /// Creates a document from a binary property list.
  ///
  /// - Throws: `Problem` for anything that `propertyList` doesn't write.
  init(propertyList data: Data) throws(Problem) {
    let bytes = [UInt8](data)
    guard
      case .dictionary(let list)? = try? BinaryPropertyList.read(
        bytes, limits: PropertyList.limits(for: bytes)),
      list[Key.format] == .integer(1)
    else {
      throw Problem(
        "it isn't a binary store written by OpenCoreData, or it's corrupt. Binary stores written by Core "
          + "Data can't be read because their format isn't public.")
    }
    guard case .string(let uuid)? = list[Key.uuid], !uuid.isEmpty,
      case .data(let plist)? = list[Key.metadata],
      let metadata = PropertyList.read(plist) as? [String: Any],
      case .integer(let lastKey)? = list[Key.lastKey],
      case .array(let objects)? = list[Key.objects]
    else { throw Problem("its property list is corrupt.") }
    self.init(uuid: uuid, metadata: metadata, lastKey: lastKey)
    for value in objects {
      guard let object = Object(value) else { throw Problem("one of its objects is corrupt.") }
      self.objects.append(object)
    }
    self.lastKey = max(lastKey, self.objects.map(\.key).max() ?? 0)
  }
}

extension StoreDocument.Object {
  private typealias Key = StoreDocument.Key

  /// Reads an object, or returns `nil` if the value doesn't have the form of one.
  fileprivate init?(_ value: BinaryPropertyList.Value) {
    guard case .dictionary(let fields) = value,
      case .string(let entity)? = fields[Key.entity], case .integer(let key)? = fields[Key.key],
      case .array(let attributes)? = fields[Key.attributes],
      case .array(let relationships)? = fields[Key.relationships]
    else { return nil }
    self.init(entity: entity, key: key)
    for value in attributes {
      guard case .dictionary(let fields) = value, case .string(let name)? = fields[Key.name],
        case .string(let type)? = fields[Key.type],
        let value = fields[Key.value].flatMap({ RowValue(listed: $0) })
      else { return nil }
      self.attributes.append(StoreDocument.Attribute(name: name, type: type, value: value))
    }
    for value in relationships {
      guard case .dictionary(let fields) = value, case .string(let name)? = fields[Key.name],
        case .bool(let isToMany)? = fields[Key.isToMany],
        case .string(let destination)? = fields[Key.destination],
        case .array(let listed)? = fields[Key.keys]
      else { return nil }
      let keys = listed.compactMap { value in
        if case .integer(let key) = value { key } else { nil }
      }
      guard keys.count == listed.count else { return nil }
      self.relationships.append(
        StoreDocument.Relationship(
          name: name, isToMany: isToMany, destination: destination, keys: keys))
    }
  }
}

extension RowValue {
  /// The value in its property-list form.
  fileprivate var listed: BinaryPropertyList.Value {
    switch self {
    case .null, .toOne: .null
    case .int64(let number): .integer(number)
    case .double(let number): .real(number)
    case .text(let text): .string(text)
    case .bytes(let data): .data([UInt8](data))
    }
  }

  /// Reads a value, or returns `nil` if it doesn't have the form of one.
  fileprivate init?(listed value: BinaryPropertyList.Value) {
    switch value {
    case .integer(let number): self = .int64(number)
    case .real(let number): self = .double(number)
    case .string(let text): self = .text(text)
    case .data(let bytes): self = .bytes(Data(bytes))
    default: return nil
    }
  }
}
