import OpenCoreData

/// An article as generated code declares it: fixed slots in the order of the names.
class SlottedArticle: NSManagedObject {
  enum Slots {
    static let bool = PropertySlot<Bool>(0, offset: 32, "bool")
    static let data = PropertySlot<Data?>(1, offset: 40, "data")
    static let date = PropertySlot<Date?>(2, offset: 48, "date")
    static let decimal = PropertySlot<Decimal?>(3, offset: 56, "decimal")
    static let double = PropertySlot<Double?>(4, offset: 64, "double")
    static let float = PropertySlot<Float>(5, offset: 72, "float")
    static let int16 = PropertySlot<Int16>(6, offset: 80, "int16")
    static let int32 = PropertySlot<Int32?>(7, offset: 88, "int32")
    static let int64 = PropertySlot<Int64>(8, offset: 96, "int64")
    static let string = PropertySlot<String?>(9, offset: 104, "string")
    static let uri = PropertySlot<URL?>(10, offset: 112, "uri")
    static let uuid = PropertySlot<UUID?>(11, offset: 120, "uuid")

    static let declarations = [
      bool.declaration, data.declaration, date.declaration, decimal.declaration,
      double.declaration, float.declaration, int16.declaration, int32.declaration,
      int64.declaration, string.declaration, uri.declaration, uuid.declaration,
    ]
  }

  @Managed("int64") var managedInteger: Int64
  @Managed("string") var managedText: String
  @Managed("double") var managedDouble: Double?
  @Managed("int32") var widerInteger: Int
}

extension SlottedArticle {
  /// The value of each property by its slot and by its name, which must be equal.
  var bothWays: [(name: String, slot: AnyHashable?, key: AnyHashable?)] {
    func pair<Value: ManagedValue & Hashable>(
      _ name: String, _ slot: PropertySlot<Value>, empty: Value
    ) -> (name: String, slot: AnyHashable?, key: AnyHashable?) {
      return (name, self[slot], storedValue(forKey: name) as? AnyHashable ?? AnyHashable(empty))
    }
    func pair<Value: ManagedValue & Hashable>(
      _ name: String, _ slot: PropertySlot<Value?>
    ) -> (name: String, slot: AnyHashable?, key: AnyHashable?) {
      (name, self[slot], storedValue(forKey: name) as? AnyHashable)
    }
    return [
      pair("bool", Slots.bool, empty: false), pair("data", Slots.data), pair("date", Slots.date),
      pair("decimal", Slots.decimal), pair("double", Slots.double),
      pair("float", Slots.float, empty: 0), pair("int16", Slots.int16, empty: 0),
      pair("int32", Slots.int32), pair("int64", Slots.int64, empty: 0),
      pair("string", Slots.string), pair("uri", Slots.uri), pair("uuid", Slots.uuid),
    ]
  }

  /// Sets every property by its slot, to values that follow from a number.
  func setAll(_ number: Int) {
    self[Slots.bool] = number % 2 == 1
    self[Slots.data] = Data([UInt8(number)])
    self[Slots.date] = Date(timeIntervalSinceReferenceDate: Double(number))
    self[Slots.decimal] = Decimal(number) / 4
    self[Slots.double] = Double(number) / 2
    self[Slots.float] = Float(number) / 2
    self[Slots.int16] = Int16(-number)
    self[Slots.int32] = Int32(number) << 20
    self[Slots.int64] = Int64(number) << 40
    self[Slots.string] = "a text of more than 15 bytes, \(number)"
    self[Slots.uri] = URL(string: "https://example.org/\(number)")
    self[Slots.uuid] = UUID(
      uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, UInt8(number)))
  }

  /// Sets the optional properties to `nil`.
  func clear() {
    self[Slots.data] = nil
    self[Slots.date] = nil
    self[Slots.decimal] = nil
    self[Slots.double] = nil
    self[Slots.int32] = nil
    self[Slots.string] = nil
    self[Slots.uri] = nil
    self[Slots.uuid] = nil
  }
}
