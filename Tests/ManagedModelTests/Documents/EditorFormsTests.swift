import Testing

@testable import ManagedModel

@Suite("Model documents of all Xcode versions are read")
struct EditorFormsTests {
  static func read(_ inside: String) throws -> NSManagedObjectModel {
    let document = """
      <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
      <model name="" userDefinedModelVersionIdentifier="" type="com.apple.IDECoreDataModeler.\
      DataModel" documentVersion="1.0" lastSavedToolsVersion="2061" systemVersion="12D78"
      minimumToolsVersion="Xcode 4.3" macOSVersion="Automatic" iOSVersion="Automatic">
      \(inside)
      </model>
      """
    return try ModelDocument.read(data: Data(document.utf8), file: "Editor")
  }

  /// Attributes as different editors write them, with their outlines.
  @Test(arguments: [
    (
      #"attributeType="Integer 16" minValueString="-3" maxValueString="30.0" "#
        + #"defaultValueString="0.0" syncable="YES""#,
      "Integer 16, default 0, at least -3, at most 30.0"
    ),
    (
      #"attributeType="Integer 64" usesScalarValueType="YES" defaultValueString="1e3""#,
      "Integer 64, default 1000"
    ),
    (
      #"attributeType="Decimal" defaultValueString="0.0" minValueString="0""#,
      "Decimal, default 0, at least 0"
    ),
    (
      #"attributeType="Double" defaultValueString="-1.7976931348623157e+308""#,
      "Double, default -1.7976931348623157e+308"
    ),
    (
      #"attributeType="Float" defaultValueString="0" usesScalarValueType="NO""#,
      "Float, default 0.0"
    ),
    (#"attributeType="Boolean" defaultValueString="NO""#, "Boolean, default false"),
    (#"attributeType="Boolean" defaultValueString="1""#, "Boolean, default true"),
    (
      #"attributeType="Boolean" defaultValueString="0.0" minValueString="0""#,
      "Boolean, default false"
    ),
    (
      #"attributeType="Date" defaultDateTimeInterval="-978307200" "#
        + #"minDateTimeInterval="-978310800" maxDateTimeInterval="1420070400""#,
      "Date, default 1970-01-01 00:00:00 +0000, at least -978310800, at most 1420070400"
    ),
    (
      #"attributeType="String" defaultValueString="" minValueString="1" "#
        + #"regularExpressionString="^[a-z]*$" spotlightIndexingEnabled="YES" "#
        + #"storedInTruthFile="YES""#,
      "String, default , at least 1, matching ^[a-z]*$, optional, in Spotlight"
    ),
    (
      #"attributeType="Binary" allowsExternalBinaryDataStorage="YES" storesBinaryDataExternally="#
        + #""YES" defaultValueString="0""#, "Binary, external"
    ),
    (
      #"attributeType="Transformable" valueTransformerName="NSSecureUnarchiveFromData" "#
        + #"customClassName="[String]" defaultValueString="NO""#,
      "Transformable, values [String], transformer NSSecureUnarchiveFromData"
    ),
    (
      #"attributeType="UUID" defaultValueString="" preserveAfterDeletion="YES" "#
        + #"preservesValueInHistoryOnDeletion="YES""#, "UUID, kept in history"
    ),
    (#"attributeType="URI" allowsCloudEncryption="YES" ephemeral="YES""#, "URI, encrypted"),
    (#"attributeType="Integer 32" minDateTimeInterval="1" newThing="?""#, "Integer 32"),
    (
      #"transient="YES" attributeType="Undefined" defaultValueString="x""#,
      "Undefined, optional, transient"
    ),
    (
      #"attributeType="Integer 16" defaultValueString="NO" minValueString=" 5 ""#,
      "Integer 16, default 0, at least  5 "
    ),
    (#"transient="YES" attributeType="ObjectID""#, "Object ID, optional, transient"),
    (#"transient="YES" derived="NO""#, "Undefined, optional, transient"),
  ])
  func attributesOfAllXcodeVersionsAreRead(tag: String, outline: String) throws {
    let model = try Self.read(
      #"<entity name="Thing"><attribute name="a" optional="YES" \#(tag)/></entity>"#)
    let facts = model.outline.first { $0.hasPrefix("  attribute a") }?
      .dropFirst("  attribute a, ".count)
    let expected = outline.contains(", optional") ? outline : outline + ", optional"
    #expect(facts.map(String.init) == expected)
  }

  @Test func otherElementsAreReadOrIgnored() throws {
    let model = try Self.read(
      """
      <!-- a comment --> <?editor instruction?>
      <entity name="Box" representedClassName=".Box" codeGenerationType="category" syncable="YES"
          coreSpotlightDisplayNameExpression="(((">
        <attribute name="name" attributeType="String" optional="NO"><userInfo/></attribute>
        <attribute name="size" attributeType="Double" optional="YES" derived="YES"
            derivationExpression="@sum.things.weight"/>
        <relationship name="things" optional="YES" toMany="YES" minCount="0" maxCount="-1"
            ordered="YES" deletionRule="No Action" destinationEntity="Thing" inverseName="box"
            inverseEntity="Thing" syncable="YES" futureFlag="YES"><future deep="YES"/></relationship>
        <relationship name="inner" optional="YES" minCount="1" maxCount="1" deletionRule="Deny"
            destinationEntity="Box" indexed="YES"/>
        <fetchedProperty name="all" optional="YES" syncable="YES"><fetchRequest
            name="fetchedPropertyFetchRequest" entity="Thing"/></fetchedProperty>
        <fetchIndex name="byNameIndex"><fetchIndexElement property="name" type="Binary"
            order="ascending"/></fetchIndex>
        <fetchIndex name="byLength" partialIndexPredicate="name != nil"><fetchIndexElement
            expression="length:(name)" expressionType="Integer 64" type="Binary"
            order="descending"/></fetchIndex>
        <compoundIndexes><compoundIndex><index value="name"/><index value="inner"/></compoundIndex>
        </compoundIndexes>
        <uniquenessConstraints><uniquenessConstraint><constraint value="name"/>
        </uniquenessConstraint></uniquenessConstraints>
        <userInfo><entry key="mogenerator.readonly" value="YES"/><entry key="alone"/></userInfo>
      </entity>
      <entity name="Thing" isAbstract="NO"><attribute name="weight" attributeType="Double"/>
        <relationship name="box" optional="YES" maxCount="1" deletionRule="Nullify"
            destinationEntity="Box" inverseName="things" inverseEntity="Box"/></entity>
      <fetchRequest name="FetchRequest" entity="Thing" fetchLimit="10" fetchBatchSize="5"
          resultType="1" includeSubentities="NO" includePropertyValues="NO"
          returnObjectsAsFaults="NO" returnDistinctResults="YES" includesPendingChanges="NO"
          predicateString="weight &gt;= $LEAST AND box.name CONTAINS[cd] &quot;x&quot;"/>
      <configuration name="Cloud" usedWithCloudKit="YES"><memberEntity name="Box"/>
      </configuration>
      <elements><element name="Box" positionX="-63" positionY="-18" width="128" height="88"/>
      </elements>
      <somethingNew><entity name="Not an entity of the model"/></somethingNew>
      """)
    #expect(model.entities.map(\.name) == ["Box", "Thing"])
    let box = try #require(model.entitiesByName["Box"])
    #expect(box.properties.map(\.name) == ["name", "size", "things", "inner", "all"])
    #expect(box.managedObjectClassName == ".Box")
    #expect(box.indexes.map(\.name) == ["byNameIndex", "byLength"])
    #expect(box.relationshipsByName["inner"]?.isIndexed == true)
    #expect(model.fetchRequestTemplates.first?.fetchLimit == 10)
    #expect(model.configurations == ["Cloud"])
    let again = try ModelDocument.read(
      data: Data(ModelDocument.text(of: model).text.utf8), file: "Again")
    #expect(again.outline == model.outline)
  }

  /// The supported forms of composite attributes.
  @Test(arguments: [
    #"<attribute name="at" optional="YES" attributeType="Composite"><attribute name="x" "#
      + #"attributeType="Double"/></attribute></entity>"#,
    #"<composite name="at" optional="YES"><attribute name="x" attributeType="Double"/>"#
      + #"</composite></entity>"#,
    #"<attribute name="at" optional="YES" attributeType="Composite" compositeName="Spot"/>"#
      + #"</entity><composite name="Spot"><attribute name="x" attributeType="Double"/></composite>"#,
    #"<compositeAttribute name="at" optional="YES" type="Spot"/></entity>"#
      + #"<compositeType name="Spot"><attribute name="x" attributeType="Double"/></compositeType>"#,
  ])
  func allFormsOfCompositesAreRead(rest: String) throws {
    let model = try Self.read(#"<entity name="Thing">"# + rest)
    #expect(
      model.outline.contains { $0.hasPrefix("  attribute at, Composite, of (x, Double) ") }
        || model.outline.contains { $0.contains("attribute at, Composite") && $0.contains("x, Do") }
    )
    let composite = model.entitiesByName["Thing"]?.attributesByName["at"]
    #expect((composite as? NSCompositeAttributeDescription)?.elements.map(\.name) == ["x"])
  }

  private static let plain =
    "<model><entity name=\"Zoo\"><attribute name=\"née\" attributeType=\"String\"/></entity></model>"
  private static let declared = #"<?xml version="1.0" encoding="ENC"?>"# + "\r\n" + plain

  @Test func documentsOfAllEncodingsAreRead() throws {
    func utf16(_ text: String, isBig: Bool, mark: Bool) -> [UInt8] {
      ((mark ? [0xFEFF] : []) + Array(text.utf16)).flatMap { unit in
        isBig
          ? [UInt8(unit >> 8), UInt8(unit & 0xFF)] : [UInt8(unit & 0xFF), UInt8(unit >> 8)]
      }
    }
    func named(_ encoding: String) -> String {
      Self.declared.replacingOccurrences(of: "ENC", with: encoding)
    }
    let documents: [[UInt8]] = [
      Array(Self.plain.utf8), Array(named("UTF-8").utf8), Array(named("utf8").utf8),
      [0xEF, 0xBB, 0xBF] + Array(named("UTF-8").utf8), [0xEF, 0xBB, 0xBF] + Array(Self.plain.utf8),
      utf16(named("UTF-16"), isBig: false, mark: true),
      utf16(named("UTF-16"), isBig: true, mark: true),
      utf16(Self.plain, isBig: false, mark: true), utf16(named("UTF-16"), isBig: true, mark: false),
      named("ISO-8859-1").unicodeScalars.map { UInt8($0.value) },
    ]
    for bytes in documents {
      let model = try ModelDocument.read(data: Data(bytes), file: "Zoo")
      #expect(model.entitiesByName["Zoo"]?.properties.map(\.name) == ["née"])
    }
  }

  @Test("A document in Latin-1 has the same text in UTF-8")
  func bytesInLatin1BecomeTheirCharacters() throws {
    let head = Array(#"<?xml version="1.0" encoding="ISO-8859-1"?>"#.utf8)
    let letters = UInt8(1)...255
    let read = try DocumentEncoding.utf8(Data(head + Array(letters)), file: "Zoo")
    let text = String(String.UnicodeScalarView(letters.map { Unicode.Scalar($0) }))
    #expect(read.suffix(text.utf8.count).elementsEqual(text.utf8))
    #expect(read.count == head.count + text.utf8.count)
  }

  /// The most memory that the process has used, in MB.
  private static var peakMegabytes: Int {
    let text = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = text.split(separator: "\n").first { $0.hasPrefix("VmHWM:") } ?? ""
    let words = line.split { $0 == " " || $0 == "\t" }
    return (words.dropFirst().first.flatMap { Int($0) } ?? 0) / 1_024
  }

  @Test("A document in Latin-1 takes a few times its size while it's read")
  func memoryOfLatin1IsLimited() async {
    await #expect(processExitsWith: .success) {
      let head = #"<?xml version="1.0" encoding="ISO-8859-1"?><model>"#
      let data = Data(Array(head.utf8) + [UInt8](repeating: 0xE9, count: 16 << 20))
      let before = EditorFormsTests.peakMegabytes
      _ = try DocumentEncoding.utf8(data, file: "Zoo")
      let grown = EditorFormsTests.peakMegabytes - before
      precondition(before > 0 && grown < 200, "grown by \(grown) MB")
    }
  }

  /// Invalid bytes would crash the system's parser.
  @Test func invalidEncodingReportsTheOffset() {
    var bytes = Array(Self.plain.utf8)
    bytes[20] = 0xD1
    let half: [UInt8] = [0xFF, 0xFE, 0x3C, 0x00, 0x00, 0xD8]
    let unknown = Array(Self.declared.replacingOccurrences(of: "ENC", with: "EBCDIC").utf8)
    let cases: [(bytes: [UInt8], message: String)] = [
      (bytes, "Zoo:1:21: error: A character here isn't in UTF-8"),
      (half, "Zoo:1:1: error: The document starts as UTF-16"),
      (unknown, "Zoo:1:1: error: The document's encoding is ebcdic"),
    ]
    for (bytes, message) in cases {
      let errors = #expect(throws: ModelErrors.self) {
        try ModelDocument.read(data: Data(bytes), file: "Zoo")
      }
      #expect(errors?.errors.first?.description.hasPrefix(message) == true)
    }
  }
}
