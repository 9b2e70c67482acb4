import Testing

/// A model with unusual hierarchies, names, relationships, or attributes.
struct SampleModel: CustomTestStringConvertible {
  let testDescription: String
  /// The contents of the document's `model` element.
  let contents: String

  init(_ testDescription: String, _ entities: String...) {
    self.testDescription = testDescription
    contents = entities.joined()
  }

  private typealias Tags = DocumentTags
  private static let many = #"toMany="YES""#
  private static let list = #"toMany="YES" ordered="YES""#

  private static func below(_ parent: String) -> String { #"parentEntity="\#(parent)""# }

  private static func derived(_ name: String, _ type: String, _ formula: String) -> String {
    Tags.attribute(name, type, #"derived="YES" derivationExpression="\#(formula)""#)
  }

  static let all = hierarchies + names + relationships + attributes

  private static let hierarchies = [
    SampleModel(
      "eight nested subentities, each related to itself",
      (0..<8).map { level in
        Tags.entity(
          "E\(level)",
          Tags.attribute("a\(level)", "Integer 16")
            + Tags.relationship("r\(level)", "E\(level)", "q\(level)")
            + Tags.relationship("q\(level)", "E\(level)", "r\(level)", many),
          level == 0 ? "" : below("E\(level - 1)"))
      }.joined()),
    SampleModel(
      "two hierarchies with related root entities and subentities",
      Tags.entity("P", Tags.relationship("x", "Q", "y"), #"isAbstract="YES""#),
      Tags.entity("P1", Tags.attribute("a"), below("P")),
      Tags.entity("P2", Tags.attribute("a") + Tags.relationship("w", "Q1", "z"), below("P")),
      Tags.entity("Q", Tags.relationship("y", "P", "x", many)),
      Tags.entity("Q1", Tags.attribute("b") + Tags.relationship("z", "P2", "w", list), below("Q")),
      Tags.entity("Q2", "", below("Q"))),
    SampleModel(
      "many-to-many relationships between hierarchies",
      Tags.entity("P", Tags.relationship("x", "Q", "y", many)),
      Tags.entity("P1", Tags.relationship("v", "Q1", "u", list), below("P")),
      Tags.entity("Q", Tags.relationship("y", "P", "x", list)),
      Tags.entity("Q1", Tags.relationship("u", "P1", "v", list), below("Q"))),
    SampleModel(
      "two hundred attributes",
      Tags.entity("A", (0..<200).map { Tags.attribute("a\($0)", "Integer 64") }.joined())),
  ]

  private static let names = [
    SampleModel(
      "SQL keywords",
      Tags.entity(
        "Select",
        Tags.attribute("from") + Tags.attribute("where", "Integer 32")
          + Tags.attribute("order", "Date") + Tags.relationship("group", "Table", "index")),
      Tags.entity(
        "Table",
        Tags.relationship("index", "Select", "group", many)
          + Tags.attribute("values", "Boolean"))),
    SampleModel(
      "non-ASCII names",
      Tags.entity(
        "Straße",
        Tags.attribute("größe", "Double") + Tags.attribute("日本")
          + Tags.relationship("到", "Ключ", "от")),
      Tags.entity("Ключ", Tags.relationship("от", "Straße", "到", many) + Tags.attribute("İd"))),
    SampleModel(
      "names that differ only in case or number",
      Tags.entity(
        "A",
        ["item", "Item", "item1", "ITEM2"].map { Tags.attribute($0) }.joined()
          + Tags.relationship("iTEM", "B", "x")),
      Tags.entity("B", Tags.relationship("x", "A", "iTEM", many)),
      Tags.entity("a", Tags.attribute("n"))),
    SampleModel(
      "names of system tables",
      Tags.entity("_PRIMARYKEY", Tags.attribute("a")),
      Tags.entity("_metadata", Tags.attribute("a")),
      Tags.entity("_ModelCache", Tags.attribute("a"))),
    SampleModel(
      "long names",
      Tags.entity(
        String(repeating: "A", count: 120),
        Tags.attribute(String(repeating: "b", count: 200))
          + Tags.relationship(
            String(repeating: "c", count: 150), String(repeating: "A", count: 120),
            String(repeating: "d", count: 150), many)
          + Tags.relationship(
            String(repeating: "d", count: 150), String(repeating: "A", count: 120),
            String(repeating: "c", count: 150), many))),
  ]

  private static let relationships = [
    SampleModel(
      "relationships to the entity itself",
      Tags.entity(
        "N",
        Tags.attribute("n") + Tags.relationship("parent", "N", "children")
          + Tags.relationship("children", "N", "parent", list)
          + Tags.relationship("friends", "N", "friends", many)
          + Tags.relationship("likes", "N", "likedBy", many)
          + Tags.relationship("likedBy", "N", "likes", list)
          + Tags.relationship("spouse", "N", "spouse"))),
    SampleModel(
      "ordered many-to-many relationships to the same entity",
      Tags.entity(
        "N",
        Tags.relationship("before", "N", "after", list)
          + Tags.relationship("after", "N", "before", list)
          + Tags.relationship("peers", "N", "peers", list))),
    SampleModel(
      "required to-one relationships of subentities",
      Tags.entity(
        "A",
        #"<attribute name="m" attributeType="Integer 32" defaultValueString="3"/>"#
          + #"<relationship name="b" destinationEntity="B" inverseName="as" maxCount="1" "#
          + #"inverseEntity="B" deletionRule="Nullify"/>"#),
      Tags.entity(
        "A1", #"<attribute name="s" attributeType="String" defaultValueString="x"/>"#, below("A")),
      Tags.entity("A2", Tags.attribute("o"), below("A")),
      Tags.entity(
        "B",
        #"<relationship name="as" optional="YES" toMany="YES" ordered="YES" inverseName="b" "#
          + #"destinationEntity="A" inverseEntity="A" deletionRule="Cascade"/>"#)),
    SampleModel(
      "three entities in a cycle",
      Tags.entity("A", Tags.relationship("b", "B", "a") + Tags.relationship("cs", "C", "a", list)),
      Tags.entity("B", Tags.relationship("a", "A", "b") + Tags.relationship("c", "C", "bs")),
      Tags.entity("C", Tags.relationship("a", "A", "cs") + Tags.relationship("bs", "B", "c", many))),
  ]

  private static let attributes = [
    SampleModel(
      "all types",
      Tags.entity(
        "T",
        [
          "Integer 16", "Integer 32", "Integer 64", "Decimal", "Double", "Float", "String",
          "Boolean", "Date", "Binary", "UUID", "URI", "Transformable",
        ].map { Tags.attribute("a" + $0.filter { $0 != " " }, $0) }.joined()
          + Tags.attribute("large", "Binary", #"allowsExternalBinaryDataStorage="YES""#)
          + Tags.attribute("held", "String", #"transient="YES""#))),
    SampleModel(
      "derived attributes",
      Tags.entity(
        "A",
        Tags.attribute("n") + Tags.relationship("bs", "B", "a", many)
          + derived("count", "Integer 64", "bs.@count") + derived("sum", "Double", "bs.@sum.v")
          + derived("key", "String", "canonical:(n)") + derived("saved", "Date", "now()")),
      Tags.entity("A1", derived("up", "String", "uppercase:(n)"), below("A")),
      Tags.entity(
        "B",
        Tags.attribute("v", "Double") + Tags.relationship("a", "A", "bs")
          + derived("an", "String", "a.n"))),
    SampleModel(
      "derived attributes over a join table",
      Tags.entity(
        "A",
        Tags.relationship("bs", "B", "as", many) + derived("count", "Integer 64", "bs.@count")),
      Tags.entity(
        "B",
        Tags.attribute("v", "Integer 16") + Tags.relationship("as", "A", "bs", list)
          + derived("count", "Integer 64", "as.@count"))),
    SampleModel(
      "constraints of a parent entity and a subentity",
      Tags.entity("P", Tags.attribute("a") + Tags.constraint("a")),
      Tags.entity(
        "P1", Tags.attribute("b") + Tags.relationship("o", "X", "p") + Tags.constraint("a", "b"),
        below("P")),
      Tags.entity("X", Tags.relationship("p", "P1", "o"))),
    SampleModel(
      "indexes with the same name in a hierarchy, and R-tree indexes",
      Tags.entity(
        "P",
        Tags.attribute("a", "Integer 64", #"indexed="YES""#) + Tags.attribute("b", "Date")
          + Tags.attribute("lat", "Double") + Tags.attribute("lon", "Double")
          + Tags.index("one", "a") + Tags.index("part", "a", #"partialIndexPredicate="a &gt; 5""#)
          + #"<fetchIndex name="geo"><fetchIndexElement property="lat" type="RTree"/>"#
          + #"<fetchIndexElement property="lon" type="RTree"/></fetchIndex>"#),
      Tags.entity("P1", Tags.attribute("c") + Tags.index("one", "c"), below("P"))),
    SampleModel(
      "nested composite attributes",
      Tags.entity(
        "A",
        #"<attribute name="addr" optional="YES" attributeType="Composite">"#
          + Tags.attribute("city") + Tags.attribute("zip", "Integer 32")
          + #"<attribute name="in" optional="YES" attributeType="Composite">"#
          + Tags.attribute("d", "Date") + "</attribute></attribute>"),
      Tags.entity("A1", Tags.attribute("addrCity"), below("A"))),
  ]
}
