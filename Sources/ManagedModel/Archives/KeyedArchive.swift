/// The objects of a keyed archive, read without instantiating their classes.
struct KeyedArchive {
  /// An object of the archive with a class of its own.
  struct Object {
    /// The number of the object.
    let uid: UInt32
    /// The name of its class.
    let className: String
    /// The object's values by key; references to other objects are UIDs.
    let fields: [String: BinaryPropertyList.Value]
  }

  /// The number of members of lists that have been returned.
  private final class Count {
    var members = 0
  }

  private let objects: [BinaryPropertyList.Value]
  private let count = Count()
  /// The archive's root object.
  let root: Object

  /// Whether more members of lists were requested than an archive may have, so that the last lists
  /// were returned as empty.
  ///
  /// Objects can share a list, which could contain itself: its members would multiply.
  var isExhausted: Bool { count.members > ModelLimits.propertyListValues }

  /// The error for an archive that is exhausted.
  static let exhaustion = error(
    "The archive's lists have more than \(ModelLimits.propertyListValues) members, counted where "
      + "they're used.")

  /// Reads an archive.
  init(_ bytes: [UInt8]) throws(ModelError) {
    let list: BinaryPropertyList.Value
    do {
      list = try BinaryPropertyList.read(bytes)
    } catch {
      throw Self.error("The compiled model is corrupt: \(error.message)")
    }
    guard case .dictionary(let top) = list, case .array(let objects) = top["$objects"],
      case .dictionary(let roots) = top["$top"], case .uid(let uid) = roots["root"]
    else { throw Self.error("The property list isn't a keyed archive.") }
    guard let root = Self.object(uid, in: objects) else {
      throw Self.error("The keyed archive has no root object.")
    }
    self.objects = objects
    self.root = root
  }

  private static func error(_ message: String) -> ModelError {
    ModelError(message, nextStep: "Specify a .xcdatamodeld, .xcdatamodel, or .mom file.")
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

  /// Returns the value that a UID refers to, or the value itself; `nil` for a null reference.
  func value(_ value: BinaryPropertyList.Value?) -> BinaryPropertyList.Value? {
    guard case .uid(let uid) = value else { return value == .null ? nil : value }
    guard uid > 0, Int(uid) < objects.count else { return nil }
    return objects[Int(uid)]
  }

  /// Returns the object that a UID refers to, or `nil` if the value doesn't refer to one with a
  /// class.
  func object(_ value: BinaryPropertyList.Value?) -> Object? {
    guard case .uid(let uid) = value, uid > 0 else { return nil }
    return Self.object(uid, in: objects)
  }

  /// Returns the string of a value, stored inline or as a string object.
  func string(_ value: BinaryPropertyList.Value?) -> String? {
    if case .string(let text) = self.value(value) { return text }
    guard let object = object(value), case .string(let text) = object.fields["NS.string"] else {
      return nil
    }
    return text
  }

  /// Returns the integer of a value, or `nil` if it isn't one.
  func integer(_ value: BinaryPropertyList.Value?) -> Int? {
    switch self.value(value) {
    case .integer(let number): Int(exactly: number)
    case .real(let number): Int(exactly: number)
    case .bool(let flag): flag ? 1 : 0
    default: nil
    }
  }

  /// Returns the Boolean of a value, or false if there isn't one.
  func flag(_ value: BinaryPropertyList.Value?) -> Bool {
    integer(value).map { $0 != 0 } ?? false
  }

  /// Returns the members of an array or a set; empty if the archive is exhausted.
  func list(_ value: BinaryPropertyList.Value?) -> [BinaryPropertyList.Value] {
    if case .array(let members) = self.value(value) { return counted(members) }
    guard let object = object(value), case .array(let members) = object.fields["NS.objects"] else {
      return []
    }
    return counted(members)
  }

  /// Counts members that are about to be read, and returns none if there are too many.
  private func counted(_ members: [BinaryPropertyList.Value]) -> [BinaryPropertyList.Value] {
    if isExhausted { return [] }
    count.members += members.count
    return isExhausted ? [] : members
  }

  /// Returns the entries of a dictionary of any class that archives contain; empty if the archive
  /// is exhausted.
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
    return zip(counted(keys), values).map { (key: $0.0, value: $0.1) }
  }
}

extension KeyedArchive {
  /// Returns the Swift value of an archived string, number, date, data, UUID, URL, array, or
  /// dictionary.
  ///
  /// It's `nil` for a null reference and for unknown classes.
  func anyValue(_ value: BinaryPropertyList.Value?, depth: Int = 0) -> Any? {
    guard depth < ModelLimits.archivedValueDepth else { return nil }
    switch self.value(value) {
    case .none, .null, .uid, .set: return nil
    case .bool(let flag): return flag
    case .integer(let number): return number
    case .unsigned(let number): return number
    case .real(let number): return number
    case .date(let seconds): return Date(timeIntervalSinceReferenceDate: seconds)
    case .data(let bytes): return Data(bytes)
    case .string(let text): return text
    case .array(let members):
      return counted(members).compactMap { anyValue($0, depth: depth + 1) }
    case .dictionary: return object(value).flatMap { anyValue(of: $0, value, depth: depth) }
    }
  }

  private func anyValue(
    of object: Object, _ value: BinaryPropertyList.Value?, depth: Int
  ) -> Any? {
    switch object.className {
    case "NSString", "NSMutableString": return string(value)
    case "NSDate": return date(object)
    case "NSData", "NSMutableData":
      guard case .data(let bytes) = object.fields["NS.data"] else { return nil }
      return Data(bytes)
    case "NSUUID": return uuid(object)
    case "NSURL":
      let base = anyValue(object.fields["NS.base"], depth: depth + 1) as? URL
      return string(object.fields["NS.relative"]).flatMap { URL(string: $0, relativeTo: base) }
    case "NSDecimalNumber": return decimal(object)
    case "NSArray", "NSMutableArray", "NSSet", "NSMutableSet":
      return list(value).compactMap { anyValue($0, depth: depth + 1) }
    default:
      guard object.className.contains("Dictionary") else { return nil }
      return dictionary(value, depth: depth + 1)
    }
  }

  /// Returns a dictionary with strings or numbers as keys, without entries that can't be read.
  func dictionary(
    _ value: BinaryPropertyList.Value?, depth: Int = 0
  ) -> [AnyHashable: Any] {
    var result: [AnyHashable: Any] = [:]
    guard depth < ModelLimits.archivedValueDepth else { return result }
    for (key, value) in entries(value) {
      guard let key = anyValue(key, depth: depth + 1) as? AnyHashable else { continue }
      result[key] = anyValue(value, depth: depth + 1)
    }
    return result
  }

  /// Returns the entries of an archived `userInfo`, with numbers as `NSNumber`s.
  ///
  /// They cast to every Swift number type that can represent them, as those that Core Data reads.
  func userInfo(_ value: BinaryPropertyList.Value?) -> [AnyHashable: Any] {
    dictionary(value).mapValues(Self.boxed)
  }

  private static func boxed(_ value: Any) -> Any {
    switch value {
    case let number as Int64 where type(of: value) == Int64.self: NSNumber(value: number)
    case let number as UInt64 where type(of: value) == UInt64.self: NSNumber(value: number)
    case let number as Double where type(of: value) == Double.self: NSNumber(value: number)
    case let members as [Any]: members.map(boxed)
    case let entries as [AnyHashable: Any]: entries.mapValues(boxed)
    default: value
    }
  }

  private func date(_ object: Object) -> Date? {
    switch object.fields["NS.time"] {
    case .real(let seconds), .date(let seconds): Date(timeIntervalSinceReferenceDate: seconds)
    case .integer(let seconds): Date(timeIntervalSinceReferenceDate: Double(seconds))
    default: nil
    }
  }

  private func uuid(_ object: Object) -> UUID? {
    guard case .data(let bytes) = object.fields["NS.uuidbytes"], bytes.count == 16 else {
      return nil
    }
    return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
  }

  /// Returns a decimal number from a mantissa of 16-bit parts, the least significant first, and an
  /// exponent of ten.
  private func decimal(_ object: Object) -> Decimal? {
    guard case .data(let bytes) = object.fields["NS.mantissa"], bytes.count == 16,
      let exponent = integer(object.fields["NS.exponent"]), (-128...127).contains(exponent),
      let length = integer(object.fields["NS.length"]), (0...8).contains(length)
    else { return nil }
    let isNegative = flag(object.fields["NS.negative"])
    guard length > 0 else { return isNegative ? Decimal.nan : 0 }
    let isLittleEndian = integer(object.fields["NS.mantissa.bo"]).map { $0 != 2 } ?? true
    var mantissa = Decimal(0)
    for part in (0..<length).reversed() {
      let first = Int(bytes[2 * part])
      let second = Int(bytes[2 * part + 1])
      mantissa =
        mantissa * 65_536 + Decimal(isLittleEndian ? second << 8 | first : first << 8 | second)
    }
    return Decimal(sign: isNegative ? .minus : .plus, exponent: exponent, significand: mantissa)
  }
}

/// The keys of compiled models that have no counterpart in Apple's form.
enum ArchiveKey {
  /// The formula of a derived attribute, as a string.
  static let derivation = "cdprof.derivationExpression"
  /// The elements of a composite attribute: attributes without an entity.
  static let elements = "cdprof.elements"
  /// The validation predicates as format strings with their warnings: an array of pairs.
  static let validation = "cdprof.validationPredicates"
  /// The format of the expression for an object's display name in Spotlight.
  static let spotlightName = "cdprof.coreSpotlightDisplayNameExpression"
  /// Whether Spotlight indexes the property.
  static let spotlight = "cdprof.isIndexedBySpotlight"
  /// The minimum value or length.
  static let minimum = "cdprof.minimum"
  /// The maximum value or length.
  static let maximum = "cdprof.maximum"
  /// The pattern of a string.
  static let pattern = "cdprof.pattern"
  /// Whether the value is encrypted in the cloud.
  static let encrypted = "cdprof.allowsCloudEncryption"
  /// The format string of the predicate of an index.
  static let partialIndex = "cdprof.partialIndexPredicate"
  /// The format string of the expression that an element of an index covers, and the type of its
  /// values.
  static let indexExpression = "cdprof.expression"
  /// Core Data's version hash of an entity.
  static let versionHash = "cdprof.versionHash"
  /// Core Data's checksum of the model.
  static let versionChecksum = "cdprof.versionChecksum"
  /// The localized names of the model.
  static let localization = "cdprof.localizationDictionary"
  /// The raw value of the type of an expression's values.
  static let expressionType = "cdprof.expressionResultType"
  /// The stored fetch requests of a model, or the request of a fetched property: dictionaries.
  static let templates = "cdprof.fetchRequestTemplates"
  /// The values of a document that couldn't be read, by the attribute of the tag.
  static let unread = "cdprof.unreadTexts"
  /// The configurations of a model: the names of their entities, by the configuration's name.
  static let configurations = "cdprof.configurations"

  /// The bits of `_P` that are set in every known property.
  static let alwaysSet = 0xF1
  /// The bit of `_P` for an optional property.
  static let optional = 0x02
  /// The bit of `_P` for a transient property.
  static let transient = 0x08

  /// The bit of `NSFlagsKey` for large values in files.
  static let external = 0x04
  /// The bit of `NSFlagsKey` for values that persistent history preserves.
  static let preserved = 0x10
}
