import ManagedModel
import Testing

@testable import ModelCode

@Suite("Swift names and types of a model")
struct NamesTests {
  @Test(arguments: [
    ("Color", "Color"), ("*Color", "Color"), ("NSColor *", "NSColor"), ("Color?", "Color"),
    ("[String]", "[String]"), ("[String: [Int]]", "[String: [Int]]"), ("Shop.Price", "Shop.Price"),
    ("Box<Int, [A?]>", "Box<Int, [A?]>"), ("", nil), ("[String", nil), ("a b", nil),
    ("Color{}", nil), ("1st", nil), ("Box<>", nil), ("A.", nil),
    ("Any", "Any"), ("[String: Any]", "[String: Any]"), ("id", nil), ("class", nil),
    ("[Self]", nil),
  ])
  func typeNamesFollowSwiftSyntax(text: String, type: String?) {
    #expect(TypeText.type(text) == type)
  }

  @Test(arguments: [
    ("rank", "rank", "rank", nil), ("default", "default", "`default`", nil),
    ("plays_since", "plays_since", "plays_since", "AlwaysUseLowerCamelCase"),
    ("URL", "URL", "URL", "AlwaysUseLowerCamelCase"),
    ("größe", "größe", "größe", "IdentifiersMustBeASCII"),
    ("1st place", "_1st_place", "_1st_place", "AlwaysUseLowerCamelCase, NoLeadingUnderscores"),
  ])
  func namesAreEscapedForSwift(name: String, identifier: String, quoted: String, rules: String?) {
    #expect(SwiftNames.identifier(name) == identifier)
    #expect(SwiftNames.quoted(identifier) == quoted)
    let exception = SwiftNames.lintException(for: identifier)
    #expect(exception == rules.map { "// swift-format-ignore: \($0)" })
  }

  @Test(arguments: [("a", "\"a\""), ("a\"\\\n", "\"a\\\"\\\\\\n\""), ("\u{1}", "\"\\u{1}\"")])
  func stringsBecomeSwiftLiterals(text: String, literal: String) {
    #expect(SwiftNames.literal(text) == literal)
  }

  @Test("Generated names differ from those of the model's classes and properties")
  func generatedNamesAreUnique() throws {
    let (shop, other) = (NSEntityDescription(), NSEntityDescription())
    shop.name = "Shop"
    shop.managedObjectClassName = "ShopModel"
    shop.properties = ["declarations", "declarationsValue"].map { name -> NSPropertyDescription in
      let attribute = NSAttributeDescription()
      attribute.name = name
      attribute.attributeType = .stringAttributeType
      return attribute
    }
    other.name = "Other"
    other.managedObjectClassName = "ShopModelClasses"
    let model = NSManagedObjectModel()
    model.entities = [shop, other]
    let plan = try ModelPlan(model, name: "Shop", file: "Shop")
    #expect(plan.name == "ShopModelClasses2")
    let slots = plan.classes.flatMap(\.slots).map(\.slotName)
    #expect(Set(slots) == ["declarationsValue", "declarationsValue2"])
  }
}
