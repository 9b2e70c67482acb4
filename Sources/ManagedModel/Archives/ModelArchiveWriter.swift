/// Writes a model in the layout of Apple's keyed archives.
///
/// Each entity, property, and index gets its UID at the first reference and is written from a
/// queue, so no model can make the writer recurse.
struct ModelArchiveWriter {
  typealias Value = BinaryPropertyList.Value
  typealias Fields = [String: Value]

  private enum Task {
    case entity(NSEntityDescription)
    case property(NSPropertyDescription, in: NSEntityDescription)
    case index(NSFetchIndexDescription)
  }

  /// A property of one entity.
  ///
  /// Apple's archives contain inherited properties once for each entity.
  private struct PropertyKey: Hashable {
    let property: ObjectIdentifier
    let entity: ObjectIdentifier
  }

  private var objects: [Value] = [.string("$null")]
  private var waiting: [(slot: Int, task: Task)] = []
  private var classes: [String: Value] = [:]
  private var scalars: [Value: Value] = [:]
  private var strings: [ByteText: Value] = [:]
  private var entitySlots: [ObjectIdentifier: Value] = [:]
  private var propertySlots: [PropertyKey: Value] = [:]

  /// The null reference.
  let null = Value.uid(0)
  /// The reference to the model, which is always the first object.
  let modelReference = Value.uid(1)

  /// Returns a model as a complete archive.
  mutating func write(_ model: NSManagedObjectModel) -> [UInt8] {
    let slot = reserve()
    objects[slot] = .dictionary(fields(of: model))
    return finish()
  }

  /// Returns entities as the archive of a model without other content.
  mutating func write(_ entities: [NSEntityDescription]) -> [UInt8] {
    let slot = reserve()
    objects[slot] = .dictionary(fields(of: entities))
    return finish()
  }

  /// Writes all objects that were referred to, and returns the archive.
  private mutating func finish() -> [UInt8] {
    var next = 0
    while next < waiting.count {
      let (slot, task) = waiting[next]
      next += 1
      let fields =
        switch task {
        case .entity(let entity): self.fields(of: entity)
        case .property(let property, let entity): self.fields(of: property, in: entity)
        case .index(let index): self.fields(of: index, slot: slot)
        }
      objects[slot] = .dictionary(fields)
    }
    return BinaryPropertyList.write(
      .dictionary([
        "$version": .integer(100_000),
        "$archiver": .string("NSKeyedArchiver"),
        "$top": .dictionary(["root": modelReference]),
        "$objects": .array(objects),
      ]))
  }

  private mutating func reserve() -> Int {
    objects.append(.null)
    return objects.count - 1
  }

  private static func uid(_ slot: Int) -> Value { .uid(UInt32(clamping: slot)) }

  /// Adds a complete object and returns the reference to it.
  mutating func add(_ fields: Fields) -> Value {
    objects.append(.dictionary(fields))
    return Self.uid(objects.count - 1)
  }

  /// Returns the reference to a number or another value except a string; equal values share an
  /// object.
  private mutating func scalar(_ value: Value) -> Value {
    if let known = scalars[value] { return known }
    objects.append(value)
    let reference = Self.uid(objects.count - 1)
    scalars[value] = reference
    return reference
  }

  /// Returns the reference to a string, or the null reference.
  ///
  /// Strings of the same bytes share an object.
  mutating func string(_ text: String?) -> Value {
    guard let text else { return null }
    if let known = strings[ByteText(text)] { return known }
    objects.append(.string(text))
    let reference = Self.uid(objects.count - 1)
    strings[ByteText(text)] = reference
    return reference
  }

  /// Returns the reference to data.
  mutating func data(_ data: Data) -> Value { scalar(.data(Array(data))) }

  /// Returns the reference to a class, named with its superclasses except `NSObject`.
  mutating func classReference(_ names: String...) -> Value {
    if let known = classes[names[0]] { return known }
    let chain = (names + ["NSObject"]).map { Value.string($0) }
    let reference = add(["$classname": .string(names[0]), "$classes": .array(chain)])
    classes[names[0]] = reference
    return reference
  }

  /// Returns the reference to an entity.
  mutating func reference(to entity: NSEntityDescription?) -> Value {
    guard let entity else { return null }
    if let known = entitySlots[ObjectIdentifier(entity)] { return known }
    let slot = reserve()
    entitySlots[ObjectIdentifier(entity)] = Self.uid(slot)
    waiting.append((slot, .entity(entity)))
    return Self.uid(slot)
  }

  /// Returns the reference to a property of an entity.
  mutating func reference(
    to property: NSPropertyDescription?, in entity: NSEntityDescription?
  ) -> Value {
    guard let property, let entity else { return null }
    let key = PropertyKey(
      property: ObjectIdentifier(property), entity: ObjectIdentifier(entity))
    if let known = propertySlots[key] { return known }
    let slot = reserve()
    propertySlots[key] = Self.uid(slot)
    waiting.append((slot, .property(property, in: entity)))
    return Self.uid(slot)
  }

  /// Returns the reference to an index, which only its entity refers to.
  mutating func reference(to index: NSFetchIndexDescription) -> Value {
    let slot = reserve()
    waiting.append((slot, .index(index)))
    return Self.uid(slot)
  }

  private mutating func fields(of index: NSFetchIndexDescription, slot: Int) -> Fields {
    let elements = index.elements.map { element in
      var fields: Fields = [
        "NSPropertyName": string(element.propertyName),
        "NSFetchIndexElementType": .integer(Int64(element.collationType.rawValue)),
        "NSFetchIndexDescription": Self.uid(slot),
        "NSAscending": .bool(element.isAscending),
        "$class": classReference("NSFetchIndexElementDescription"),
      ]
      if let computed = element.property as? NSExpressionDescription {
        add(computed, to: &fields)
      }
      return add(fields)
    }
    var fields: Fields = [
      "NSIndexName": string(index.name),
      "NSPartialIndexPredicate": null,
      "NSIndexElements": mutableArray(elements),
      "NSEntity": reference(to: index.entity),
      "$class": classReference("NSFetchIndexDescription"),
    ]
    let unread = index.unreadTexts["partialIndexPredicate"]
    if let format = index.partialIndexPredicate?.predicateFormat ?? unread {
      fields[ArchiveKey.partialIndex] = string(format)
    }
    return fields
  }
}

extension ModelArchiveWriter {
  /// Returns the reference to an array.
  mutating func array(_ members: [Value]) -> Value {
    let kind = classReference("NSArray")
    return add(["NS.objects": .array(members), "$class": kind])
  }

  /// Returns the reference to an array of the class that Core Data uses for mutable arrays.
  mutating func mutableArray(_ members: [Value]) -> Value {
    let kind = classReference("NSMutableArray", "NSArray")
    return add(["NS.objects": .array(members), "$class": kind])
  }

  /// Returns the reference to a set.
  mutating func set(_ members: [Value]) -> Value {
    let kind = classReference("NSSet")
    return add(["NS.objects": .array(members), "$class": kind])
  }

  /// Returns the reference to an immutable dictionary.
  mutating func dictionary(_ entries: [(key: Value, value: Value)]) -> Value {
    let kind = classReference("NSDictionary")
    return add([
      "NS.keys": .array(entries.map(\.key)), "NS.objects": .array(entries.map(\.value)),
      "$class": kind,
    ])
  }

  /// Returns the reference to a dictionary of the class that Core Data uses for mutable
  /// dictionaries.
  mutating func mutableDictionary(_ entries: [(key: Value, value: Value)]) -> Value {
    let kind = classReference("NSMutableDictionary", "NSDictionary")
    return add([
      "NS.keys": .array(entries.map(\.key)), "NS.objects": .array(entries.map(\.value)),
      "$class": kind,
    ])
  }

  /// Returns the reference to a dictionary with fixed keys, which Core Data uses for a model's
  /// entities.
  mutating func knownKeysDictionary(_ entries: [(key: Value, value: Value)]) -> Value {
    let mapping = add([
      "keys": array(entries.map(\.key)),
      "length": .integer(Int64(entries.count)),
      "version": .integer(1),
      "$class": classReference("NSKnownKeysMappingStrategy1", "NSKnownKeysMappingStrategy"),
    ])
    return add([
      "values": array(entries.map(\.value)),
      "searchMapping": mapping,
      "emptyToken": string("__empty_slot_token_4c24_98dc_ac1e_b773__"),
      "version": .integer(1),
      "$class": classReference(
        "NSKnownKeysDictionary1", "NSKnownKeysDictionary", "NSMutableDictionary", "NSDictionary"),
    ])
  }

  /// Returns the reference to an array of arrays of strings.
  mutating func groups(_ groups: [[String]]) -> Value {
    let members = groups.map { group in
      mutableArray(group.map { string($0) })
    }
    return mutableArray(members)
  }
}

extension ModelArchiveWriter {
  /// Returns the reference to a Swift value, or the null reference for a value that can't be
  /// archived.
  mutating func any(_ value: Any?) -> Value {
    // Foundation's numbers would also be cast to Swift types that lose digits.
    if let value, type(of: value) is AnyClass, let number = value as? NSNumber {
      return self.number(number)
    }
    switch value {
    case let text as String: return string(text)
    case let flag as Bool: return scalar(.bool(flag))
    case let number as any BinaryInteger:
      return Int64(exactly: number).map { scalar(.integer($0)) }
        ?? UInt64(exactly: number).map { scalar(.unsigned($0)) } ?? null
    case let number as Double: return scalar(.real(number))
    case let number as Float: return scalar(.real(Double(number)))
    case let number as Decimal: return decimal(number)
    case let date as Date:
      let seconds = date.timeIntervalSinceReferenceDate
      return add(["NS.time": .real(seconds), "$class": classReference("NSDate")])
    case let bytes as Data: return data(bytes)
    case let uuid as UUID:
      let bytes = withUnsafeBytes(of: uuid.uuid) { Array($0) }
      return add(["NS.uuidbytes": .data(bytes), "$class": classReference("NSUUID")])
    case let url as URL:
      return add([
        "NS.base": null, "NS.relative": string(url.absoluteString),
        "$class": classReference("NSURL"),
      ])
    case let members as [Any]: return array(members.map { any($0) })
    case let entries as [AnyHashable: Any]: return dictionary(of: entries)
    default: return null
    }
  }

  private mutating func number(_ number: NSNumber) -> Value {
    if let number = number as? NSDecimalNumber { return decimal(number.decimalValue) }
    switch UInt8(bitPattern: number.objCType.pointee) {
    case UInt8(ascii: "d"), UInt8(ascii: "f"): return scalar(.real(number.doubleValue))
    case UInt8(ascii: "Q"): return any(number.uint64Value)
    // Flags have the type of a character, as on Apple platforms.
    case UInt8(ascii: "c") where (0...1).contains(number.int8Value):
      return scalar(.bool(number.boolValue))
    default: return scalar(.integer(number.int64Value))
    }
  }

  /// Returns the reference to a dictionary of Swift values, with the keys sorted as strings.
  mutating func dictionary(of entries: [AnyHashable: Any]) -> Value {
    let sorted = entries.sorted { "\($0.key)" < "\($1.key)" }
    return dictionary(
      sorted.map { entry in (key: any(entry.key.base), value: any(entry.value)) })
  }

  /// Returns the reference to a decimal number: a mantissa of 16-bit parts, the least significant
  /// first, and an exponent of ten.
  private mutating func decimal(_ number: Decimal) -> Value {
    var parts = [Int](repeating: 0, count: 8)
    let digits = number.isNaN ? "" : "\(number.significand.magnitude)"
    for digit in digits.compactMap(\.wholeNumberValue) {
      var carry = digit
      for index in parts.indices {
        let product = parts[index] * 10 + carry
        parts[index] = product & 0xFFFF
        carry = product >> 16
      }
    }
    let length = parts.lastIndex { $0 != 0 }.map { $0 + 1 } ?? 0
    let bytes = parts.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
    return add([
      "NS.mantissa": .data(bytes),
      "NS.mantissa.bo": .integer(1),
      "NS.exponent": .integer(Int64(number.isNaN ? 0 : number.exponent)),
      "NS.length": .integer(Int64(length)),
      "NS.negative": .bool(number.isNaN || number.sign == .minus),
      "NS.compact": .bool(true),
      "$class": classReference("NSDecimalNumber", "NSNumber", "NSValue"),
    ])
  }
}
