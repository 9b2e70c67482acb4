/// The objects of a keyed archive, looked at without making instances of their classes.
struct KeyedArchive {
  /// An object of the archive with a class of its own.
  struct Object {
    /// The number of the object.
    let uid: UInt32
    /// The name of its class.
    let className: String
    /// Its values by key; other objects are there as UIDs.
    let fields: [String: BinaryPropertyList.Value]
  }

  private let objects: [BinaryPropertyList.Value]
  /// The object that was archived.
  let root: Object

  /// Reads an archive.
  init(_ bytes: [UInt8]) throws(ModelError) {
    let list: BinaryPropertyList.Value
    do {
      list = try BinaryPropertyList.read(bytes)
    } catch {
      throw Self.error("The compiled model is damaged: \(error.message)")
    }
    guard case .dictionary(let top) = list, case .array(let objects) = top["$objects"],
      case .dictionary(let roots) = top["$top"], case .uid(let uid) = roots["root"]
    else { throw Self.error("The property list is no keyed archive.") }
    guard let root = Self.object(uid, in: objects) else {
      throw Self.error("The keyed archive has no root object.")
    }
    self.objects = objects
    self.root = root
  }

  private static func error(_ message: String) -> ModelError {
    ModelError(message, nextStep: "Give the model as .xcdatamodeld, .xcdatamodel or .mom.")
  }

  private static func object(
    _ uid: UInt32, in objects: [BinaryPropertyList.Value]
  ) -> Object? {
    guard Int(uid) < objects.count, case .dictionary(let fields) = objects[Int(uid)],
      case .uid(let classID) = fields["$class"], Int(classID) < objects.count,
      case .dictionary(let description) = objects[Int(classID)],
      case .string(let name) = description["$classname"]
    else { return nil }
    return Object(uid: uid, className: name, fields: fields)
  }

  /// The value behind a UID, or the value itself; nil for nothing.
  func value(_ value: BinaryPropertyList.Value?) -> BinaryPropertyList.Value? {
    guard case .uid(let uid) = value else { return value == .null ? nil : value }
    guard uid > 0, Int(uid) < objects.count else { return nil }
    return objects[Int(uid)]
  }

  /// The object with a class of its own behind a UID.
  func object(_ value: BinaryPropertyList.Value?) -> Object? {
    guard case .uid(let uid) = value, uid > 0 else { return nil }
    return Self.object(uid, in: objects)
  }

  /// The text behind a value, kept as it is or as a string object.
  func string(_ value: BinaryPropertyList.Value?) -> String? {
    if case .string(let text) = self.value(value) { return text }
    guard let object = object(value), case .string(let text) = object.fields["NS.string"] else {
      return nil
    }
    return text
  }

  /// The whole number behind a value.
  func integer(_ value: BinaryPropertyList.Value?) -> Int? {
    switch self.value(value) {
    case .integer(let number): Int(exactly: number)
    case .real(let number): Int(exactly: number)
    case .bool(let flag): flag ? 1 : 0
    default: nil
    }
  }

  /// The yes or no behind a value; no when there is none.
  func flag(_ value: BinaryPropertyList.Value?) -> Bool {
    integer(value).map { $0 != 0 } ?? false
  }

  /// The members of an array or a set.
  func list(_ value: BinaryPropertyList.Value?) -> [BinaryPropertyList.Value] {
    if case .array(let members) = self.value(value) { return members }
    guard let object = object(value), case .array(let members) = object.fields["NS.objects"] else {
      return []
    }
    return members
  }

  /// The entries of a dictionary of any of the kinds that archives hold.
  func entries(
    _ value: BinaryPropertyList.Value?
  ) -> [(key: BinaryPropertyList.Value, value: BinaryPropertyList.Value)] {
    guard let object = object(value) else { return [] }
    if let mapping = self.object(object.fields["searchMapping"]) {
      let empty = object.fields["emptyToken"]
      return zip(list(mapping.fields["keys"]), list(object.fields["values"]))
        .filter { $0.1 != empty }.map { (key: $0.0, value: $0.1) }
    }
    guard case .array(let keys) = object.fields["NS.keys"],
      case .array(let values) = object.fields["NS.objects"]
    else { return [] }
    return zip(keys, values).map { (key: $0.0, value: $0.1) }
  }
}
