import CoreDataCosts
import ManagedModel
import OpenCoreData
import SQLiteDriver
import Testing

/// Packs each color into three bytes, and counts its calls.
private final class PackedColours: ValueTransformer {
  nonisolated(unsafe) static var packed = 0
  nonisolated(unsafe) static var unpacked = 0

  override func transformedValue(_ value: Any?) -> Any? {
    PackedColours.packed += 1
    let colours = (value as? [[UInt8]]) ?? (value as? ColourBox)?.colours
    return colours.map { Data($0.flatMap { $0 }) }
  }

  override func reverseTransformedValue(_ value: Any?) -> Any? {
    PackedColours.unpacked += 1
    guard let bytes = value as? Data, !bytes.isEmpty, bytes.count % 3 == 0 else { return nil }
    return stride(from: 0, to: bytes.count, by: 3).map { start in
      Array(bytes.dropFirst(start).prefix(3))
    }
  }
}

/// A transformer whose archives are all different.
private final class UnrepeatableArchive: ValueTransformer {
  nonisolated(unsafe) static var values: [Any] = []

  override func transformedValue(_ value: Any?) -> Any? {
    guard let value else { return nil }
    UnrepeatableArchive.values.append(value)
    return Data("\(UnrepeatableArchive.values.count - 1)".utf8)
  }

  override func reverseTransformedValue(_ value: Any?) -> Any? {
    guard let bytes = value as? Data, let index = Int(String(decoding: bytes, as: UTF8.self))
    else { return nil }
    return UnrepeatableArchive.values[index]
  }
}

/// A class that overrides `validateValue`, so that each value is compared with the result.
private final class CheckedMood: NSManagedObject {
  override func validateValue(_ value: inout Any?, forKey key: String) throws {
    try super.validateValue(&value, forKey: key)
  }
}

/// Values of every kind that a transformable attribute may have, re-created for each access.
private enum StoredValue: String, CaseIterable {
  case nested, keyed, set, foreign, data, date, notANumber, structure, choice, comparable, object

  private struct Structure {
    var name = "a"
    var parts: [Any] = [1, ["b": 2.5]]
  }

  private enum Choice {
    case none
    case some([Any])
  }

  private final class Comparable: NSObject {
    override func isEqual(_ object: Any?) -> Bool { object is Comparable }
    override var hash: Int { 1 }
  }

  nonisolated(unsafe) private static let box = ColourBox([[1]])

  var value: Any {
    switch self {
    case .nested: [1, ["a", [2.5, Data([1])] as [Any]] as [Any]] as [Any]
    case .keyed:
      ["a": [1, "x"] as [Any], "b": ["c": Date(timeIntervalSince1970: 1)]] as [String: Any]
    case .set: Set(["a", "b", "c"])
    case .foreign:
      NSArray(array: [NSNumber(value: 1), NSDictionary(object: "v", forKey: NSString("k"))])
    case .data: Data([1, 2])
    case .date: Date(timeIntervalSince1970: 5)
    case .notANumber: ["a": [Double.nan]] as [String: Any]
    case .structure: Structure()
    case .choice: [Choice.none, Choice.some([1])]
    case .comparable: Comparable()
    case .object: StoredValue.box
    }
  }
}

/// A value that can be changed in place.
private final class ColourBox {
  var colours: [[UInt8]]

  init(_ colours: [[UInt8]]) {
    self.colours = colours
  }
}

/// A value of a custom class that adopts only `NSCoding`.
final class CodedColour: NSObject, NSCoding {
  let number: Int

  init(_ number: Int) {
    self.number = number
  }

  init?(coder: NSCoder) {
    number = coder.decodeInteger(forKey: "number")
  }

  func encode(with coder: NSCoder) {
    coder.encode(number, forKey: "number")
  }
}

@Suite("Value transformers", .serialized)
struct TransformerTests {
  private let six: [[UInt8]] = (0..<6).map { [UInt8($0), 128, 255] }

  private func stack(_ kind: StoreKind) throws -> GraphStack {
    ValueTransformer.setValueTransformer(
      PackedColours(), forName: NSValueTransformerName("PackedColours"))
    ValueTransformer.setValueTransformer(
      UnrepeatableArchive(), forName: NSValueTransformerName("UnrepeatableArchive"))
    (PackedColours.packed, PackedColours.unpacked) = (0, 0)
    CheckedMood.registerClass()
    let mood = NSEntityDescription()
    mood.name = "Mood"
    mood.managedObjectClassName = "CheckedMood"
    let name = NSAttributeDescription()
    name.name = "name"
    name.attributeType = .stringAttributeType
    let transformers = [
      "packed": "PackedColours", "archived": "NSSecureUnarchiveFromData", "raw": "NoSuchOne",
      "outside": "PackedColours", "salted": "UnrepeatableArchive",
    ]
    let colours = transformers.map { key, transformer in
      let attribute = NSAttributeDescription()
      attribute.name = key
      attribute.attributeType = .transformableAttributeType
      attribute.valueTransformerName = transformer
      attribute.allowsExternalBinaryDataStorage = key == "outside"
      return attribute
    }
    mood.properties = colours + [name]
    let model = NSManagedObjectModel()
    model.entities = [mood]
    return try GraphStack(kind, model: model)
  }

  @Test(
    "S5.03 six packed colors take 18 bytes, an archive more; both round-trip",
    arguments: StoreKind.allCases)
  func packedAndArchivedValuesRoundTrip(kind: StoreKind) throws {
    let stack = try stack(kind)
    let writer = try stack.context()
    try writer.performAndWait {
      let mood = writer.make(
        "Mood",
        ["name": "a", "packed": six, "archived": six.map { $0.map(Int.init) }, "raw": Data([7])])
      _ = writer.make("Mood", ["name": "b"])
      try writer.save()
      #expect(mood.value(forKey: "packed") as? [[UInt8]] == six)
    }
    let context = try stack.context()
    try context.performAndWait {
      let moods = try context.all("Mood")
      #expect(moods[0].value(forKey: "packed") as? [[UInt8]] == six)
      #expect(moods[0].value(forKey: "archived") as? [[Int]] == six.map { $0.map(Int.init) })
      #expect(moods[0].value(forKey: "raw") as? Data == Data([7]))
      #expect(moods[1].value(forKey: "packed") == nil && moods[1].value(forKey: "archived") == nil)
    }
    guard kind == .sqlite else { return }
    let connection = try Connection(path: stack.storeURL.path, access: .writing)
    defer { connection.close() }
    let sizes = try connection.values(
      "SELECT length(ZPACKED), length(ZARCHIVED) > 18 FROM ZMOOD WHERE ZNAME = 'a'", [])
    #expect(sizes == [[.integer(18), .integer(1)]])
    // Data that the transformer can't read is nil.
    for bytes in ["x''", "x'0102'"] {
      try connection.execute("UPDATE ZMOOD SET ZPACKED = \(bytes) WHERE ZNAME = 'b'")
      let cold = try stack.context()
      try cold.performAndWait {
        let mood = try #require(try cold.all("Mood").last)
        #expect(mood.value(forKey: "packed") == nil)
      }
    }
  }

  @Test(
    "S5.04 transformable values are decoded when their object is realized",
    arguments: StoreKind.allCases)
  func transformableValuesAreDecodedWhenTheObjectIsRealized(kind: StoreKind) throws {
    let stack = try stack(kind)
    let writer = try stack.context()
    try writer.performAndWait {
      for number in 0..<5 { _ = writer.make("Mood", ["name": "\(number)", "packed": six]) }
      try writer.save()
    }
    #expect(PackedColours.packed == 5 && PackedColours.unpacked == 0)
    let context = try stack.context()
    try context.performAndWait {
      let moods = try context.all("Mood")
      #expect(moods.allSatisfy(\.isFault) && PackedColours.unpacked == 0)
      for mood in moods { _ = mood.value(forKey: "name") }
      #expect(PackedColours.unpacked == 5)
      for mood in moods { _ = mood.value(forKey: "packed") }
      #expect(PackedColours.unpacked == 5)
    }
  }

  @Test(
    "S5.08 S-B20 a value mutated in place isn't saved; a new one is",
    arguments: StoreKind.allCases)
  func valueMutatedInPlaceIsNotSaved(kind: StoreKind) throws {
    let stack = try stack(kind)
    let context = try stack.context()
    try context.performAndWait {
      let box = ColourBox([[1, 2, 3]])
      let mood = context.make("Mood", ["name": "a", "packed": box])
      try context.save()
      box.colours = [[9, 9, 9]]
      #expect(!mood.hasChanges && (mood.value(forKey: "packed") as? ColourBox) === box)
      #expect(try costs(of: context) { try context.save() }.updates == 0)
      mood.setValue("b", forKey: "name")
      try context.save()
      context.refresh(mood, mergeChanges: false)
      #expect(mood.value(forKey: "packed") as? [[UInt8]] == [[1, 2, 3]])
      mood.setValue(ColourBox([[9, 9, 9]]), forKey: "packed")
      #expect(mood.changedValues().keys.sorted() == ["packed"])
      #expect(try costs(of: context) { try context.save() }.updates == stack.statements(1))
      context.refresh(mood, mergeChanges: false)
      #expect(mood.value(forKey: "packed") as? [[UInt8]] == [[9, 9, 9]])
    }
  }

  @Test(
    "Transformable values that allow external storage round-trip, and small ones are in the row",
    arguments: StoreKind.allCases, [6, 40_000])
  func valuesThatAllowExternalStorageRoundTrip(kind: StoreKind, count: Int) throws {
    let stack = try stack(kind)
    let colours = (0..<count).map { [UInt8(truncatingIfNeeded: $0), 1, 2] }
    let writer = try stack.context()
    try writer.performAndWait {
      let mood = writer.make("Mood", ["name": "a", "outside": colours])
      try writer.save()
      #expect(mood.value(forKey: "outside") as? [[UInt8]] == colours)
      #expect(!mood.hasChanges)
    }
    let storage = ExternalStorage(storeURL: stack.storeURL)
    #expect(try storage.fileNames().count == (kind == .sqlite && count > 6 ? 1 : 0))
    let context = try stack.context()
    try context.performAndWait {
      let mood = try #require(try context.all("Mood").first)
      #expect(mood.value(forKey: "outside") as? [[UInt8]] == colours)
      mood.setValue(six, forKey: "outside")
      #expect(mood.changedValues()["outside"] as? [[UInt8]] == six)
      try context.save()
      context.refresh(mood, mergeChanges: false)
      #expect(mood.value(forKey: "outside") as? [[UInt8]] == six)
    }
    guard kind == .sqlite else { return }
    let connection = try Connection(path: stack.storeURL.path, access: .inspecting)
    defer { connection.close() }
    #expect(try connection.values("SELECT length(ZOUTSIDE) FROM ZMOOD") == [[.integer(19)]])
    #expect(try storage.fileNames().isEmpty)
  }

  /// An entity with transformable attributes that have default values.
  private func defaults() -> NSManagedObjectModel {
    func attribute(_ name: String, _ transformer: String, _ value: Any) -> NSAttributeDescription {
      let attribute = NSAttributeDescription()
      attribute.name = name
      attribute.type = .transformable
      attribute.valueTransformerName = transformer
      attribute.defaultValue = value
      return attribute
    }
    let outside = attribute("outside", "PackedColours", six)
    outside.allowsExternalBinaryDataStorage = true
    let mood = NSEntityDescription()
    mood.name = "Mood"
    mood.properties = [
      attribute("packed", "PackedColours", six), outside,
      attribute("tags", "NSSecureUnarchiveFromData", ["a", "b"]),
      attribute("old", "NSKeyedUnarchiveFromData", ["k": 1]),
      attribute("wrong", "PackedColours", "red"),
    ]
    let model = NSManagedObjectModel()
    model.entities = [mood]
    return model
  }

  @Test(
    "A transformable attribute's default value is that of new objects",
    arguments: StoreKind.allCases)
  func newObjectsHaveTransformableDefaultValues(kind: StoreKind) throws {
    ValueTransformer.setValueTransformer(
      PackedColours(), forName: NSValueTransformerName("PackedColours"))
    let stack = try GraphStack(kind, model: defaults())
    func check(_ mood: NSManagedObject) {
      #expect(mood.value(forKey: "packed") as? [[UInt8]] == six)
      #expect(mood.value(forKey: "outside") as? [[UInt8]] == six)
      #expect(mood.value(forKey: "tags") as? [String] == ["a", "b"])
      #expect(mood.value(forKey: "old") as? [String: Int] == ["k": 1])
      #expect(mood.value(forKey: "wrong") == nil)
    }
    let writer = try stack.context()
    try writer.performAndWait {
      let mood = NSEntityDescription.insertNewObject(forEntityName: "Mood", into: writer)
      check(mood)
      let other = NSEntityDescription.insertNewObject(forEntityName: "Mood", into: writer)
      other.setValue(nil, forKey: "tags")
      try writer.save()
      check(mood)
      #expect(other.value(forKey: "tags") == nil)
    }
    let context = try stack.context()
    try context.performAndWait {
      let moods = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Mood"))
      #expect(moods.count == 2)
      for mood in moods where mood.value(forKey: "tags") != nil { check(mood) }
      #expect(moods.count { $0.value(forKey: "tags") == nil } == 1)
    }
  }

  @Test("NSCoding-only values are archived by NSKeyedUnarchiveFromData only")
  func nsCodingOnlyValuesNeedTheKeyedUnarchiveTransformer() throws {
    let name = NSValueTransformerName.keyedUnarchiveFromDataTransformerName
    #expect(name.rawValue == "NSKeyedUnarchiveFromData")
    let keyed = try #require(ValueTransformer(forName: name))
    let secure = try #require(ValueTransformer(forName: .secureUnarchiveFromDataTransformerName))
    for value in [CodedColour(7), [CodedColour(7)], ["a": CodedColour(7)]] as [Any] {
      #expect(secure.reverseTransformedValue(value) == nil)
      let archive = try #require(keyed.reverseTransformedValue(value) as? Data)
      #expect(secure.transformedValue(archive) == nil)
      let back = keyed.transformedValue(archive)
      let colour =
        back as? CodedColour ?? (back as? [CodedColour])?.first
        ?? (back as? [String: CodedColour])?["a"]
      #expect(colour?.number == 7)
    }
    let plain = ["a": [1, 2]]
    let archive = try #require(keyed.reverseTransformedValue(plain) as? Data)
    #expect(keyed.transformedValue(archive) as? [String: [Int]] == plain)
    #expect(secure.transformedValue(archive) as? [String: [Int]] == plain)
  }

  @Test("Archives for which Foundation would end the process are nil")
  func archivesThatWouldEndTheProcessAreNil() throws {
    let names: [NSValueTransformerName] = [
      .secureUnarchiveFromDataTransformerName, .keyedUnarchiveFromDataTransformerName,
    ]
    let archive = try NSKeyedArchiver.archivedData(
      withRootObject: NSArray(array: [NSString("a"), NSArray(array: [NSString("b")])]),
      requiringSecureCoding: true)
    let list = try BinaryPropertyList.read(Array(archive))
    /// The archive with other objects.
    func changed(_ change: (inout [BinaryPropertyList.Value]) -> Void) -> Data {
      guard case .dictionary(var top) = list, case .array(var objects)? = top["$objects"] else {
        return Data()
      }
      change(&objects)
      top["$objects"] = .array(objects)
      return Data(BinaryPropertyList.write(.dictionary(top)))
    }
    let cycle = changed { objects in
      for index in objects.indices {
        guard case .dictionary(var fields) = objects[index], fields["NS.objects"] != nil else {
          continue
        }
        fields["NS.objects"] = .array([.uid(UInt32(index))])
        objects[index] = .dictionary(fields)
      }
    }
    func renamed(_ name: String) -> Data {
      changed { objects in
        for index in objects.indices {
          guard case .dictionary(var fields) = objects[index], fields["$classname"] != nil else {
            continue
          }
          fields["$classname"] = .string(name)
          objects[index] = .dictionary(fields)
        }
      }
    }
    for name in names {
      let transformer = try #require(ValueTransformer(forName: name))
      #expect(transformer.transformedValue(archive) is [Any])
      #expect(transformer.transformedValue(cycle) == nil)
      for other in ["NoSuchClass", "NSThread", "NSMutableAttributedString", "Foundation.NSThread"] {
        #expect(transformer.transformedValue(renamed(other)) == nil, "\(other)")
      }
      for count in stride(from: 0, to: archive.count, by: 5) {
        #expect(transformer.transformedValue(archive.prefix(count)) == nil)
      }
      // Property lists on Linux can't contain a set.
      let set = changed { $0.append(.set([.string("a"), .string("b")])) }
      #expect(transformer.transformedValue(set) == nil)
    }
  }

  @Test("A child's save passes a transformable value to its parent")
  func childSavePassesATransformableValueToItsParent() throws {
    let parent = try stack(.sqlite).context()
    let mood = try parent.performAndWait {
      let mood = parent.make("Mood", ["name": "a"])
      try parent.save()
      return mood
    }
    let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    child.parent = parent
    try child.performAndWait {
      try #require(try child.all("Mood").first).setValue(six, forKey: "packed")
      try child.save()
    }
    try parent.performAndWait {
      #expect(mood.changedValues()["packed"] as? [[UInt8]] == six)
      try parent.save()
      parent.refresh(mood, mergeChanges: false)
      #expect(mood.value(forKey: "packed") as? [[UInt8]] == six)
    }
  }

  @Test("A value that can't be transformed fails; an equal one isn't a change")
  func valueThatCannotBeTransformedFailsAndAnEqualOneIsNotAChange() throws {
    let context = try stack(.sqlite).context()
    try context.performAndWait {
      let mood = context.make("Mood", ["name": "a", "packed": "red"])
      #expect(context.saveError()?.code == NSManagedObjectValidationError)
      mood.setValue(six, forKey: "packed")
      try context.save()
      mood.setValue(six, forKey: "packed")
      #expect(mood.isUpdated && mood.changedValues().isEmpty)
      let undone = ValueTransformer(forName: .secureUnarchiveFromDataTransformerName)
      #expect(undone is NSSecureUnarchiveFromDataTransformer)
      #expect(undone?.reverseTransformedValue(Decimal(1)) == nil)
      #expect(undone?.transformedValue(Data([1, 2])) == nil)
      let values: [any Hashable] = [
        "text", 5, 2.5, Data([1]), UUID(), Date(timeIntervalSince1970: 3), Set(["x"]),
      ]
      for value in values {
        let archive = undone?.reverseTransformedValue(value)
        let back = undone?.transformedValue(archive)
        #expect((back as? AnyHashable) == AnyHashable(value), "\(value)")
      }
      let dictionary = undone?.transformedValue(undone?.reverseTransformedValue(["a": [1, 2]]))
      #expect(dictionary as? [String: [Int]] == ["a": [1, 2]])
    }
  }

  @Test(
    "Values are compared, not their archives",
    arguments: StoredValue.allCases, StoreKind.allCases)
  private func valuesNotArchivesAreCompared(stored: StoredValue, kind: StoreKind) throws {
    let stack = try stack(kind)
    let writer = try stack.context()
    try writer.performAndWait {
      _ = writer.make("Mood", ["name": "a", "salted": stored.value])
      try writer.save()
    }
    let context = try stack.context()
    try context.performAndWait {
      let mood = try #require(try context.all("Mood").first)
      mood.setValue("b", forKey: "name")
      #expect(context.saveError() == nil)
      mood.setValue(stored.value, forKey: "salted")
      #expect(mood.isUpdated && mood.changedValues().isEmpty)
      #expect(!mood.hasPersistentChangedValues)
      context.refresh(mood, mergeChanges: false)
      mood.setValue(stored.value, forKey: "salted")
      #expect(mood.changedValuesForCurrentEvent().isEmpty)
      #expect(context.saveError() == nil)
      mood.setValue(["another"], forKey: "salted")
      #expect(mood.changedValues().keys.sorted() == ["salted"])
      #expect(context.saveError() == nil)
      context.refresh(mood, mergeChanges: false)
      #expect(mood.value(forKey: "salted") as? [String] == ["another"])
    }
  }

  @Test("A dictionary whose archive varies isn't a change, and is saved with unrelated changes")
  func dictionaryWithAVaryingArchiveIsNotAChange() throws {
    let context = try stack(.sqlite).context()
    let value = Dictionary(uniqueKeysWithValues: (0..<40).map { ("key\($0)", [$0, $0 + 1]) })
    try context.performAndWait {
      let mood = context.make("Mood", ["name": "a", "archived": value])
      try context.save()
      for number in 0..<20 {
        context.refresh(mood, mergeChanges: false)
        mood.setValue("\(number)", forKey: "name")
        #expect(mood.changedValues().keys.sorted() == ["name"])
        #expect(context.saveError() == nil)
        mood.setValue(value, forKey: "archived")
        #expect(!mood.hasPersistentChangedValues)
      }
    }
  }
}
