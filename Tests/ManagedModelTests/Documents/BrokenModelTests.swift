import Testing

@testable import ManagedModel

@Suite struct BrokenModelTests {
  /// A model document with lines inside an entity `Animal` and after it.
  static func document(_ inside: String, _ after: String = "") -> String {
    """
    <?xml version="1.0" encoding="UTF-8"?>
    <model userDefinedModelVersionIdentifier="1">
      <entity name="Animal">
        <attribute name="name" attributeType="String"/>
        \(inside)
      </entity>
      <entity name="Keeper"/>
      \(after)
    </model>
    """
  }

  struct Case: CustomTestStringConvertible {
    let testDescription: String
    let document: String
    let expected: [String]
    /// Whether reading fails.
    let fails: Bool

    init(
      _ testDescription: String, _ document: String, _ expected: String..., fails: Bool = false
    ) {
      self.testDescription = testDescription
      self.document = document
      self.expected = expected
      self.fails = fails
    }
  }

  static let cases = [
    Case(
      "a wrong destination",
      document(
        #"<relationship name="kéeper" maxCount="1" destinationEntity="Keper" optional="MAYBE"/>"#),
      "5:65: warning: Animal.kéeper: There's no entity Keper. Did you mean Keeper?",
      #"5:82: warning: Animal.kéeper: optional is "MAYBE". Write YES or NO."#),
    Case(
      "a wrong type over two lines",
      document("<attribute name=\"age\"\n  attributeType='Integer32'/>"),
      #"6:18: warning: Animal.age: attributeType is "Integer32". Did you mean "Integer 32"?"#),
    Case(
      "a default that does not fit",
      document(#"<attribute name="age" attributeType="Integer 16" defaultValueString="70000"/>"#),
      #"5:74: warning: Animal.age: The default value "70000" doesn't fit the type Integer 16. "#
        + "Write an integer from -32768 to 32767."),
    Case(
      "a name given twice",
      document(#"<attribute name="name" attributeType="Date"/>"#, #"<entity name="Keeper"/>"#),
      "5:22: error: Animal.name: There are two properties named name. Rename one of them.",
      "8:17: error: Keeper: There are two entities named Keeper. Rename one of them.",
      fails: true),
    Case(
      "fetch requests and configurations given twice",
      document(
        "",
        #"<fetchRequest name="all" entity="Animal"/><fetchRequest name="all" entity="Keeper"/>"#
          + #"<configuration name="c"/><configuration name="c"/>"#),
      "8:65: warning: There are two fetch requests named all; the first one is used. "
        + "Rename one of them.",
      "8:133: warning: There are two configurations named c, which are read as one. "
        + "Rename one of them."),
    Case(
      "a wrong inverse",
      document(
        #"<relationship name="keeper" destinationEntity="Keeper" inverseName="animal"/>"#,
        #"<entity name="Zoo"><relationship name="all" toMany="YES" destinationEntity="Animal" "#
          + #"inverseName="keeper"/></entity>"#),
      "5:73: warning: Animal.keeper: The destination Keeper has no relationship animal. "
        + "Add it, or specify another inverse.",
      "8:100: warning: Zoo.all: The inverse Animal.keeper has nothing as its own inverse. "
        + "Set the inverse of Animal.keeper to Zoo.all."),
    Case(
      "a cycle of parents",
      document("", #"<entity name="A" parentEntity="B"/><entity name="B" parentEntity="A"/>"#),
      "8:34: error: A: The parent entities form a cycle, or are more than 100. "
        + "Choose another parent.",
      "8:69: error: B: The parent entities form a cycle, or are more than 100. "
        + "Choose another parent.", fails: true),
    Case(
      "names in constraints, indexes and configurations",
      document(
        #"<uniquenessConstraints><uniquenessConstraint><constraint value="nme"/>"#
          + #"</uniquenessConstraint></uniquenessConstraints>"#
          + #"<fetchIndex name="by"><fetchIndexElement property="age" order="up"/></fetchIndex>"#,
        #"<configuration name="Main"><memberEntity name="Animl"/></configuration>"#),
      "5:69: warning: Animal: The uniqueness constraint names nme, which the entity doesn't have. "
        + "Did you mean name?",
      "5:173: warning: Animal: The index by names age, which the entity doesn't have. "
        + "Add the property, or remove its name.",
      #"5:185: warning: Animal: order is "up". Write one of: ascending, descending."#,
      "8:50: warning: There's no entity Animl. Did you mean Animal?"),
    Case(
      "invalid limits and predicates",
      document(
        #"<attribute name="age" attributeType="Integer 16" minValueString="young"/>"#
          + #"<fetchIndex name="old" partialIndexPredicate="name =="/>"#),
      #"5:70: warning: Animal.age: minValueString is "young", which isn't a limit for the type Integer 16. "#
        + "Write an integer from -32768 to 32767.",
      "5:124: warning: Animal: The predicate \"name ==\" can't be read: the predicate is incomplete "
        + "(character 8). Write a complete predicate, or remove it."),
    Case(
      "limits and default values of dates",
      document(
        #"<attribute name="a" attributeType="Date" maxDateTimeInterval="never"/>"#
          + #"<attribute name="b" attributeType="Date" minValueString="2024-01-01"/>"#),
      #"5:67: warning: Animal.a: maxDateTimeInterval is "never", which isn't a limit for the type Date. "#
        + "Write the seconds since 2001-01-01 UTC.",
      #"5:132: warning: Animal.b: minValueString is "2024-01-01", which isn't a limit for the type Date. "#
        + "Write minDateTimeInterval, the seconds since 2001-01-01 UTC."),
    Case(
      "an unknown Codegen setting and an invalid display name",
      document(
        "",
        #"<entity name="Zoo" codeGenerationType="Class"/>"#
          + #"<entity name="Ark" coreSpotlightDisplayNameExpression="name +"/>"#),
      #"8:42: warning: Zoo: codeGenerationType is "Class". Did you mean "class"?"#,
      #"8:105: warning: Ark: The expression "name +" can't be read: the predicate is incomplete "#
        + "(character 7). Write a complete expression."),
    Case(
      "a composite inside of itself",
      document(
        #"<attribute name="place" attributeType="Composite" type="Place"/>"#,
        #"<composite name="Place"><attribute name="outer" attributeType="Composite" "#
          + #"type="Place"/></composite>"#),
      "8:44: error: Animal.place: The composite attribute contains itself, or composites nested more than 32 "
        + "levels deep. Remove one of the elements.", fails: true),
    Case(
      "a derivation that cannot be read",
      document(
        #"<attribute name="n" attributeType="Integer 64" derived="YES" "#
          + #"derivationExpression="pages.@count +"/>"#),
      #"5:88: warning: Animal.n: The expression "pages.@count +" can't be read: "#
        + "the predicate is incomplete (character 15). Write a complete expression."),
    Case(
      "an attribute without a type",
      document(#"<attribute name="age"/>"#),
      "5:22: warning: Animal.age: The attribute has no type, so a store saves it as bytes. "
        + "Give it a type or make it transient."),
    Case(
      "no XML", "<model>\n  <entity></model>",
      "2:19: error: The document isn't well-formed XML: the closing tag doesn't match the opening one. "
        + "Repair it in a text editor, or save it again in the model editor.", fails: true),
    Case(
      "nothing", "",
      "1:1: error: The document is empty or truncated. "
        + "Repair it in a text editor, or save it again in the model editor.", fails: true),
    Case(
      "another document", "<scene/>",
      #"1:1: error: The root element is "scene", not a model. "#
        + "Specify the contents file of a .xcdatamodel folder.", fails: true),
    Case(
      "a store", "<database/>",
      #"1:1: error: The root element is "database", not a model. "#
        + "This is an XML store. Specify the model that it was created with.",
      fails: true),
    Case(
      "a property list", "<plist/>",
      #"1:1: error: The root element is "plist", not a model. "#
        + "Property-list models from Xcode 3 can't be read. Save the model with a newer Xcode, or "
        + "specify the compiled model.", fails: true),
    Case(
      "declarations of XML entities",
      "<!DOCTYPE m [<!ENTITY a \"&b;&b;\"><!ENTITY b \"&a;&a;\">]>\n<model name=\"&a;\"/>",
      "1:13: error: Declarations in the document type aren't supported. "
        + "Repair it in a text editor, or save it again in the model editor.", fails: true),
    Case(
      "a NUL character", "<model>\n \0</model>",
      "2:2: error: A NUL character isn't allowed in XML. "
        + "Repair it in a text editor, or save it again in the model editor.", fails: true),
  ]

  @Test(arguments: cases)
  func allErrorsAreReportedWithTheirPositions(_ test: Case) {
    var errors: [ModelError] = []
    var fails = false
    do {
      errors = try ModelDocument.read(data: Data(test.document.utf8), file: "Zoo").readerWarnings
    } catch {
      (errors, fails) = (error.errors, true)
    }
    #expect(errors.map(\.description) == test.expected.map { "Zoo:\($0)" })
    #expect(fails == test.fails && errors.contains { !$0.isWarning } == test.fails)
  }

  @Test(
    "input beyond the XML parser's own limits is an error that states them",
    arguments: [
      ("<\(String(repeating: "x", count: 60_000))/>", "a name 50,000 bytes"),
      ("<model name=\"\(String(repeating: "x", count: 10_500_000))\"/>", "10 MB"),
      (
        "<model \((0...10_000).map { "a\($0)='='" }.joined(separator: " "))/>",
        "more than 10000 attributes"
      ),
    ])
  func inputBeyondTheLimitsOfTheParserIsAnError(document: String, message: String) throws {
    let errors = #expect(throws: ModelErrors.self) {
      try ModelDocument.read(data: Data(document.utf8), file: "Zoo")
    }
    let text = errors?.errors.map(\.description).joined() ?? ""
    #expect(text.contains(message) && !text.contains("of the XML parser."), "\(text.prefix(400))")
  }

  private static func repeated(_ tag: (Int) -> String) -> String {
    (0..<20_000).map(tag).joined()
  }

  private static let constraints = repeated { number in
    "<uniquenessConstraint><constraint value=\"x\(number)\"/></uniquenessConstraint>"
  }

  /// Attributes without a type, a cycle of inverses, and unknown destinations and constraints.
  static let large: [String] = [
    repeated { "<attribute name=\"a\($0)\"/>" },
    repeated { number in
      "<relationship name=\"r\(number)\" toMany=\"YES\" destinationEntity=\"A\" "
        + "inverseName=\"r\((number + 1) % 20_000)\"/>"
    },
    repeated { "<relationship name=\"r\($0)\" destinationEntity=\"Z\($0)\"/>" }
      + "<uniquenessConstraints>\(constraints)</uniquenessConstraints>",
  ]

  private static let others: Substring = {
    let others = repeated { "<entity name=\"E\($0)\"/>" }.prefix(100_000)
    return others.lastIndex(of: ">").map { others[...$0] } ?? others
  }()

  @Test(arguments: 0..<3)
  func largeInvalidDocumentsReportLimitedWarnings(index: Int) throws {
    let document = "<model><entity name=\"A\">\(Self.large[index])</entity>\(Self.others)</model>"
    let model = try ModelDocument.read(data: Data(document.utf8), file: "Zoo")
    #expect(model.readerWarnings.count == 200)
  }

  @Test func constraintsNameElementsThatHaveAColumn() throws {
    let names = ["c.e", "c.g", "c.g.e", "c.e.e", "c.x"].map {
      "<uniquenessConstraint><constraint value=\"\($0)\"/></uniquenessConstraint>"
    }
    let element = "<attribute name=\"e\" attributeType=\"String\"/>"
    let model = try ModelDocument.read(
      data: Data(
        """
        <model><entity name="A"><attribute name="c" attributeType="Composite">\(element)
        <attribute name="g" attributeType="Composite">\(element)</attribute></attribute>
        <uniquenessConstraints>\(names.joined())</uniquenessConstraints></entity></model>
        """.utf8), file: "Zoo")
    let unknown = model.readerWarnings.map { $0.message.split(separator: " ")[4] }
    #expect(unknown == ["c.g,", "c.e.e,", "c.x,"])
  }

  /// Each property hides another one.
  @Test func manyPropertiesOfTheSameNameAreErrors() {
    let same = String(repeating: "<attribute name=\"x\" attributeType=\"Date\"/>", count: 20_000)
    let document =
      "<model><entity name=\"A\">\(Self.large[0])</entity>"
      + "<entity name=\"B\" parentEntity=\"A\">\(same)</entity></model>"
    let errors = #expect(throws: ModelErrors.self) {
      try ModelDocument.read(data: Data(document.utf8), file: "Zoo")
    }
    #expect(errors?.errors.contains { $0.message == "There are two properties named x." } == true)
  }

  @Test("Columns are counted in characters, also in long lines", arguments: ["é", "𝔘", "e"])
  func columnsAreCountedInCharacters(letter: String) {
    let start = "<model><entity name=\"" + String(repeating: letter, count: 5_000) + "\"/>"
    for (rest, column) in [("<entity/></model>", 1), ("<entity name></model>", 13)] {
      let errors = #expect(throws: ModelErrors.self) {
        try ModelDocument.read(data: Data("\(start)\(rest)".utf8), file: "Zoo")
      }
      #expect(errors?.errors.map(\.line) == [1])
      #expect(errors?.errors.map(\.column) == [start.count + column])
    }
  }

  @Test func deeplyNestedDocumentsAreErrors() {
    let document = String(repeating: "<model>", count: 100_000)
    #expect(throws: ModelErrors.self) {
      try ModelDocument.read(data: Data(document.utf8), file: "Zoo")
    }
  }

  @Test(arguments: [
    ("a file that doesn't exist", "nothing.xcdatamodel", nil),
    ("an empty folder", "", nil),
    ("a wrong version", "Zoo.xcdatamodeld", "Zoo 3"),
    ("no current version", "Zoo.xcdatamodeld", nil),
    ("the form before Xcode 4", "Old.xcdatamodel", nil),
  ])
  func missingModelsAndVersionsAreErrors(name: String, path: String, version: String?) throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: folder) }
    let zoo = "Zoo.xcdatamodeld"
    for made in ["\(zoo)/Zoo.xcdatamodel", "\(zoo)/Zoo 2.xcdatamodel", "Old.xcdatamodel"] {
      try FileManager.default.createDirectory(
        at: folder.appendingPathComponent(made), withIntermediateDirectories: true)
    }
    try Data().write(to: folder.appendingPathComponent("Old.xcdatamodel/elements"))
    let errors = #expect(throws: ModelErrors.self) {
      try NSManagedObjectModel.read(
        contentsOf: folder.appendingPathComponent(path), version: version)
    }
    #expect(errors?.errors.first?.nextStep != nil)
    if version != nil {
      #expect("\(errors?.errors.first?.nextStep ?? "")" == "Did you mean Zoo 2?")
    }
  }
}

extension BrokenModelTests {
  /// Reading random documents with removed, repeated, and moved lines returns a model or an error.
  @Test(arguments: [11, 12])
  func rearrangedDocumentsNeverTrap(seed: UInt64) {
    var random = SeededNumbers(seed: seed)
    for number in 0..<60 as Range<UInt64> {
      let model = RandomModel.make(seed: seed * 1_000 + number)
      var lines = ModelDocument.text(of: model).text.split(separator: "\n").map(String.init)
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        let (from, to) = (
          Int.random(in: 2..<lines.count, using: &random),
          Int.random(in: 2..<lines.count, using: &random)
        )
        switch Int.random(in: 0..<3, using: &random) {
        case 0: lines.insert(lines[from], at: to)
        case 1: lines.swapAt(from, to)
        default: if lines.count > 4 { lines.remove(at: from) }
        }
      }
      let text = lines.joined(separator: "\n")
      do {
        let model = try ModelDocument.read(data: Data(text.utf8), file: "Zoo")
        _ = ModelDocument.text(of: model)
        _ = try? ModelArchive.read(bytes: ModelArchive.bytes(of: model))
      } catch {
        #expect(error.errors.allSatisfy { $0.line != nil && $0.column != nil })
      }
    }
  }

  /// Reading a document with random changes returns a model or an error.
  @Test(arguments: [1, 2])
  func corruptDocumentsNeverTrap(seed: UInt64) {
    let bytes = Array(ModelDocumentTests.document.utf8)
    let pool = Array("<>\"/=abNY09 ".utf8)
    var random = SeededNumbers(seed: seed)
    var invalid = 0
    for _ in 0..<150 {
      var corrupt = bytes
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        corrupt[Int.random(in: 0..<corrupt.count, using: &random)] =
          pool[Int.random(in: 0..<pool.count, using: &random)]
      }
      do {
        let model = try ModelDocument.read(data: Data(corrupt), file: "Zoo")
        _ = model.outline
        invalid += model.readerWarnings.isEmpty ? 0 : 1
        #expect(model.readerWarnings.allSatisfy { $0.line != nil && $0.column != nil })
      } catch {
        invalid += 1
        #expect(error.errors.allSatisfy { $0.line != nil && $0.column != nil })
      }
    }
    #expect(invalid > 50)
  }
}
