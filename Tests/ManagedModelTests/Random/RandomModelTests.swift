import Testing

@testable import ManagedModel

@Suite struct RandomModelTests {
  /// Documents also contain values for code generation and the editor.
  @Test(arguments: [1, 2, 3, 4])
  func randomModelsRoundTrip(batch: UInt64) throws {
    for seed in (batch * 100)..<(batch * 100 + 40) {
      let model = RandomModel.make(seed: seed)
      try #require(model.validate() == [], "seed \(seed)")
      let compiled = try ModelArchive.read(bytes: ModelArchive.bytes(of: model))
      #expect(ModelArchiveTests.differences(compiled.outline, model.outline) == [], "seed \(seed)")
      #expect(compiled.digest == model.digest)

      Self.turnPredicatesIntoLimits(model)
      let written = ModelDocument.text(of: model)
      try #require(written.losses == [], "seed \(seed)")
      let read = try ModelDocument.read(data: Data(written.text.utf8), file: "seed \(seed)")
      #expect(ModelArchiveTests.differences(read.outline, model.outline) == [], "seed \(seed)")
      #expect(ModelDocument.text(of: read).text == written.text, "seed \(seed)")

      let copy = try #require(model.copy() as? NSManagedObjectModel)
      #expect(ModelDocument.text(of: copy).text == written.text, "seed \(seed)")
    }
  }

  /// Replaces validation predicates with limits, which a document can represent.
  static func turnPredicatesIntoLimits(_ model: NSManagedObjectModel) {
    func turn(_ attribute: NSAttributeDescription) {
      for element in (attribute as? NSCompositeAttributeDescription)?.elements ?? [] {
        turn(element)
      }
      guard attribute.explicitValidation != nil else { return }
      attribute.explicitValidation = nil
      attribute.valueRule = ValueRule(minimum: "2")
    }
    for entity in model.entities {
      for case let attribute as NSAttributeDescription in entity.ownProperties { turn(attribute) }
    }
  }

  @Test(.enabled(if: SharedData.isUsed, SharedData.reason))
  func everyRealModelRoundTripsAsADocument() throws {
    for path in SharedData.paths(endingIn: ".xcdatamodel/contents") {
      let model = try NSManagedObjectModel.read(contentsOf: SharedData.url(path))
      let written = ModelDocument.text(of: model)
      #expect(written.losses == [], "\(path)")
      let read = try ModelDocument.read(data: Data(written.text.utf8), file: path)
      #expect(ModelArchiveTests.differences(read.outline, model.outline) == [], "\(path)")
    }
  }

  /// A model document of a recent Xcode, without diagram positions.
  @Test(.enabled(if: SharedData.isUsed, SharedData.reason))
  func documentMatchesXcodeOutput() throws {
    let url = SharedData.url("\(ModelArchiveTests.samples)/SampleModel2.xcdatamodel/contents")
    let text = try String(contentsOf: url, encoding: .utf8)
    let written = ModelDocument.text(of: try NSManagedObjectModel.read(contentsOf: url)).text
    #expect(written == text)
  }

  @Test func unrepresentablePartsAreReported() throws {
    let model = EntityTests.model()
    let name = try #require(model.entitiesByName["Animal"]?.attributesByName["name"])
    name.setValidationPredicates(
      [NSPredicate(format: "SELF != \"x\"")], withValidationWarnings: [1])
    name.userInfo = ["count": 3, "mark": "a\u{1}"]
    let age = try #require(model.entitiesByName["Person"]?.attributesByName["age"])
    age.attributeType = .binaryDataAttributeType
    age.defaultValue = Data([1])
    model.versionIdentifiers = ["1", "2"]
    model.localizationDictionary = ["Entity/Animal": "Tier"]
    #expect(
      ModelDocument.text(of: model).losses.map(\.description) == [
        "A model document can't contain more than one version identifier, or one that isn't a string. "
          + "Keep the compiled model too.",
        "A model document can't contain the localization dictionary. Set it in code.",
        "Animal.name: A model document can't contain these validation predicates. Set them in code.",
        "Animal.name: A model document can't contain a user info entry that isn't a string: count. "
          + "Write it as text.",
        "Animal.name: A model document can't contain a user info entry with control characters: mark. "
          + "Remove them.",
        "Person.age: A model document can't contain the default value 1 bytes. "
          + "Set it in awakeFromInsert.",
      ])
  }

  /// The reader ignores a default value of such a type, because it remains from an earlier type.
  @Test func unreadableDefaultsAndControlCharactersAreReported() throws {
    let model = EntityTests.model()
    let age = try #require(model.entitiesByName["Person"]?.attributesByName["age"])
    age.attributeType = .transformableAttributeType
    age.defaultValue = "old"
    age.valueTransformerName = "A\u{1}B"
    let written = ModelDocument.text(of: model)
    #expect(
      written.losses.map(\.description) == [
        "Person.age: A model document can't contain the default value old. "
          + "Set it in awakeFromInsert.",
        "A model document can't contain control characters, as in the valueTransformerName of the "
          + "attribute age. Remove them.",
      ])
    #expect(!written.text.contains("defaultValueString"))
  }

  @Test("The messages of predicates that become limits are reported, because a document has none")
  func messagesOfLimitsAreReported() throws {
    let model = EntityTests.model()
    let age = try #require(model.entitiesByName["Person"]?.attributesByName["age"])
    let limits = [NSPredicate(format: "SELF >= 2"), NSPredicate(format: "SELF <= 9")]
    age.setValidationPredicates(limits, withValidationWarnings: [1620, "too old"])
    let written = ModelDocument.text(of: model)
    #expect(
      written.losses.map(\.description) == [
        "Person.age: A model document can't contain the messages of these validation predicates. "
          + "Set them in code."
      ])
    #expect(written.text.contains(#"minValueString="2" maxValueString="9""#))
    age.setValidationPredicates(limits, withValidationWarnings: [1620, 1610])
    #expect(ModelDocument.text(of: model).losses == [])
    age.setValidationPredicates([], withValidationWarnings: [])
    #expect(ModelDocument.text(of: model).losses == [])
  }
}
