import Testing

@testable import ManagedModel

@Suite struct ModelDocumentTests {
  @Test(.enabled(if: SharedData.isUsed, SharedData.reason))
  func everyRealModelIsRead() throws {
    let paths = SharedData.paths(endingIn: ".xcdatamodel/contents")
    #expect(paths.count > 80)
    for path in paths {
      do {
        let model = try NSManagedObjectModel.read(contentsOf: SharedData.url(path))
        let text = try String(contentsOf: SharedData.url(path), encoding: .utf8)
        #expect(model.entities.count == text.components(separatedBy: "<entity ").count - 1)
        let properties = model.entities.flatMap(\.ownProperties).count
        let tags = ["<attribute ", "<relationship ", "<fetchedProperty "]
        let expected = tags.reduce(0) { $0 + text.components(separatedBy: $1).count - 1 }
        #expect(properties == expected, "\(path)")
      } catch {
        Issue.record("\(path): \(error)")
      }
    }
  }

  @Test(.enabled(if: SharedData.isUsed, SharedData.reason))
  func currentOrNamedVersionIsRead() throws {
    let url = SharedData.url("moody/Moody.xcdatamodeld")
    #expect(
      try NSManagedObjectModel.versions(of: url)
        == ["Moody", "Moody 2", "Moody 3", "Moody 4", "Moody 5", "Moody 6"])
    #expect(try NSManagedObjectModel.currentVersion(of: url) == "Moody 6")
    #expect(try NSManagedObjectModel.read(contentsOf: url).versionIdentifiers == ["6"])
    let named = try NSManagedObjectModel.read(contentsOf: url, version: "Moody 4.xcdatamodel")
    #expect(named.versionIdentifiers == ["4"])
  }

  /// A document with every element and attribute.
  static let document = """
    <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
    <model type="com.apple.IDECoreDataModeler.DataModel" userDefinedModelVersionIdentifier="v2">
      <entity name="Animal" representedClassName="Zoo.Animal" isAbstract="YES" elementID="Beast"
          versionHashModifier="m1" codeGenerationType="class" syncable="NO">
        <attribute name="a16" optional="YES" attributeType="Integer 16" defaultValueString="-7"/>
        <attribute name="a32" attributeType="Integer 32" defaultValueString="70000"
            minValueString="1" maxValueString="9"/>
        <attribute name="a64" attributeType="Integer 64" defaultValueString="0.0"/>
        <attribute name="decimal" attributeType="Decimal" defaultValueString="1.25"/>
        <attribute name="double" attributeType="Double" defaultValueString="-0.5"/>
        <attribute name="float" attributeType="Float" defaultValueString="2"/>
        <attribute name="text" attributeType="String" defaultValueString="a &amp; b"
            regularExpressionString="[a-z]+" indexed="YES" elementID="words"/>
        <attribute name="flag" attributeType="Boolean" defaultValueString="YES"/>
        <attribute name="date" attributeType="Date" defaultDateTimeInterval="600"
            usesScalarValueType="NO"/>
        <attribute name="bytes" attributeType="Binary" allowsExternalBinaryDataStorage="YES"/>
        <attribute name="uuid" attributeType="UUID" preserveAfterDeletion="YES"
            defaultValueString="E621E1F8-C36C-495A-93FC-0C247A3E6E5F"/>
        <attribute name="uri" attributeType="URI" defaultValueString="https://example.org"/>
        <attribute name="color" attributeType="Transformable" customClassName="Color"
            valueTransformerName="ColorTransformer" allowsCloudEncryption="YES"/>
        <attribute name="cache" transient="YES" syncable="YES"/>
        <attribute name="cubCount" attributeType="Integer 64" derived="YES"
            derivationExpression="cubs.@count" versionHashModifier="m2"/>
        <relationship name="cubs" optional="YES" toMany="YES" ordered="YES" minCount="1"
            maxCount="5" deletionRule="Cascade" destinationEntity="Animal" inverseName="mother"
            inverseEntity="Animal"/>
        <relationship name="mother" optional="YES" maxCount="1" deletionRule="Deny"
            destinationEntity="Animal" inverseName="cubs" inverseEntity="Animal">
          <userInfo><entry key="k" value="v"/><entry key="e"/></userInfo>
        </relationship>
        <fetchedProperty name="siblings" optional="YES">
          <fetchRequest name="fetchedPropertyFetchRequest" entity="Animal"
              predicateString="mother == $FETCH_SOURCE.mother"/>
        </fetchedProperty>
        <fetchIndex name="byDate" partialIndexPredicate="flag == YES">
          <fetchIndexElement property="date" type="Binary" order="descending"/>
          <fetchIndexElement property="double" type="RTree" order="ascending"/>
        </fetchIndex>
        <compoundIndexes><compoundIndex><index value="text"/><index value="a16"/></compoundIndex>
        </compoundIndexes>
        <userInfo><entry key="note" value="n"/></userInfo>
      </entity>
      <entity name="Lion" parentEntity="Animal">
        <uniquenessConstraints><uniquenessConstraint><constraint value="text"/>
        </uniquenessConstraint></uniquenessConstraints>
      </entity>
      <fetchRequest name="young" entity="Lion" predicateString="a16 &lt; 3"/>
      <configuration name="Local"><memberEntity name="Lion"/><memberEntity name="Animal"/>
      </configuration>
      <elements><element name="Animal" positionX="0" positionY="0" width="1" height="1"/></elements>
    </model>
    """

  @Test(arguments: [
    "now()", "canonical:(name)", "lowercase:(owner.name)", "uppercase:(name)", "pages.@count",
    "pages.@sum.length", "@sum.pages.length", "owner.name", "self.name", "sum:(pages.length)",
    "count:(pages)",
  ])
  func allFormsOfDerivationsAreRead(text: String) throws {
    let document = """
      <model><entity name="Book"><attribute name="d" attributeType="String" derived="YES"
      derivationExpression="\(text)"/></entity></model>
      """
    let model = try ModelDocument.read(data: Data(document.utf8), file: "Zoo")
    let attribute = model.entitiesByName["Book"]?.attributesByName["d"]
    let read = try #require((attribute as? NSDerivedAttributeDescription)?.derivationExpression)
    #expect(try NSExpression.parse(read.description, arguments: []) == read)
  }

  @Test func everyDocumentElementIsRead() throws {
    let model = try ModelDocument.read(data: Data(Self.document.utf8), file: "Zoo")
    #expect(
      model.outline == [
        #"model ["v2"]"#,
        "entity Animal, class Zoo.Animal, abstract, formerly Beast, hash modifier m1, "
          + #"info ["note=n"]"#,
        "  attribute a16, Integer 16, default -7, optional",
        "  attribute a32, Integer 32, default 70000, at least 1, at most 9",
        "  attribute a64, Integer 64, default 0",
        "  attribute bytes, Binary, external",
        "  attribute cache, Undefined, transient",
        "  attribute color, Transformable, values Color, transformer ColorTransformer, encrypted",
        "  attribute cubCount, Integer 64, derived cubs.@count, hash modifier m2",
        "  relationship cubs, to many, Animal, ordered, at least 1, at most 5, delete Cascade, "
          + "inverse Animal.mother, optional",
        "  attribute date, Date, default 2001-01-01 00:10:00 +0000",
        "  attribute decimal, Decimal, default 1.25",
        "  attribute double, Double, default -0.5",
        "  attribute flag, Boolean, default true",
        "  attribute float, Float, default 2.0",
        "  relationship mother, to one, Animal, delete Deny, inverse Animal.cubs, optional, "
          + #"info ["e=", "k=v"]"#,
        "  fetched property siblings, fetchedPropertyFetchRequest: Animal where "
          + "mother == $FETCH_SOURCE.mother, optional",
        "  attribute text, String, default a & b, matching [a-z]+, indexed, formerly words",
        "  attribute uri, URI, default https://example.org",
        "  attribute uuid, UUID, default E621E1F8-C36C-495A-93FC-0C247A3E6E5F, kept in history",
        "  index byDate: date descending, double range where flag == 1",
        "  compound index text, a16",
        "entity Lion, class NSManagedObject, below Animal",
        "  unique text",
        "configuration Local: Animal, Lion",
        "fetch request young: Lion where a16 < 3",
      ])
    let animal = try #require(model.entitiesByName["Animal"])
    #expect(animal.codeGenerationType == "class")
    #expect(!animal.isSyncable)
    #expect(animal.attributesByName["date"]?.usesScalarValueType == false)
    #expect(animal.attributesByName["a16"]?.typedDefaultValue is Int16)
    let index = try #require(animal.indexes.first)
    #expect(index.partialIndexPredicate?.evaluate(with: ["flag": true]) == true)
    #expect(index.partialIndexPredicate?.evaluate(with: ["flag": false]) == false)
  }
}
