import Testing

/// A model with a part that editors mark and compilers let pass, and what is warned of.
struct DoubtfulPart: CustomTestStringConvertible {
  let testDescription: String
  /// What is inside the document's `model`.
  let inside: String
  /// The entities and properties that are warned of, in the order of the document.
  let subjects: [String]
  /// Whether a copy of the model as XML or compiled has the part.
  let isKept: Bool

  init(_ testDescription: String, _ inside: String, _ subjects: String..., isKept: Bool = true) {
    self.testDescription = testDescription
    self.inside = inside
    self.subjects = subjects
    self.isKept = isKept
  }

  private static func entity(_ name: String, _ inside: String, _ more: String = "") -> String {
    #"<entity name="\#(name)" representedClassName="\#(name)" \#(more)>\#(inside)</entity>"#
  }

  private static func attribute(
    _ name: String, _ type: String = "String", _ more: String = ""
  ) -> String {
    #"<attribute name="\#(name)" optional="YES" attributeType="\#(type)" \#(more)/>"#
  }

  private static func relationship(
    _ name: String, _ destination: String, _ inverse: String? = nil,
    _ more: String = #"maxCount="1""#
  ) -> String {
    let back = inverse.map { #"inverseName="\#($0)" inverseEntity="\#(destination)""# } ?? ""
    return #"<relationship name="\#(name)" optional="YES" destinationEntity="\#(destination)" "#
      + #"\#(back) deletionRule="Nullify" \#(more)/>"#
  }

  private static func index(_ name: String, _ property: String, _ more: String = "") -> String {
    #"<fetchIndex name="\#(name)" \#(more)><fetchIndexElement property="\#(property)"/></fetchIndex>"#
  }

  private static func constraint(_ names: String...) -> String {
    let parts = names.map { #"<constraint value="\#($0)"/>"# }.joined()
    return "<uniquenessConstraints><uniquenessConstraint>\(parts)</uniquenessConstraint>"
      + "</uniquenessConstraints>"
  }

  static let all: [DoubtfulPart] = names + types + destinations + inverses + indexes + others

  private static let names = [
    DoubtfulPart(
      "names that every object has",
      entity("A", ["description", "entity", "self", "class"].map { attribute($0) }.joined()),
      "A.description", "A.entity", "A.self", "A.class"),
    DoubtfulPart(
      "a property of the parent declared anew",
      entity("P", attribute("n"))
        + entity("A", attribute("n", "Integer 16"), #"parentEntity="P""#), "A.n", isKept: false),
    DoubtfulPart(
      "a relationship of the parent declared anew",
      entity("P", relationship("b", "B", "a"))
        + entity("A", relationship("b", "B", "a"), #"parentEntity="P""#)
        + entity("B", relationship("a", "P", "b")), "A.b", isKept: false),
    DoubtfulPart("an unknown parent", entity("A", attribute("n"), #"parentEntity="Gone""#), "A"),
    DoubtfulPart(
      "a configuration with an unknown member, and one without a name",
      entity("A", attribute("n")) + #"<configuration name="C"><memberEntity name="Gone"/>"#
        + #"<memberEntity name="A"/></configuration><configuration/>"#, "", "", isKept: false),
    DoubtfulPart(
      "names that differ in case alone",
      entity("A", attribute("name") + attribute("Name") + attribute("NAME"))
        + entity("a", attribute("x"))),
    DoubtfulPart(
      "names of columns that every table has",
      entity("A", attribute("pk") + attribute("_PK") + attribute("ent") + attribute("_OPT"))),
  ]

  private static let types = [
    DoubtfulPart(
      "unknown types, and none",
      entity(
        "A",
        attribute("n", "Integer 128") + attribute("m", "Fancy") + attribute("k", "")
          + #"<attribute name="o" optional="YES"/>"#), "A.n", "A.m", "A.k", "A.o"),
    DoubtfulPart(
      "numbers that do not fit",
      entity(
        "A",
        attribute("n", "Integer 16", #"defaultValueString="1.5""#)
          + attribute("m", "Integer 32", #"defaultValueString="hello""#)
          + attribute("k", "Integer 16", #"defaultValueString="99999""#)
          + attribute("z", "Decimal", #"defaultValueString="1,5""#)
          + attribute("f", "Float", #"defaultValueString="0,0""#)),
      "A.n", "A.m", "A.k", "A.z", "A.f"),
    DoubtfulPart(
      "other defaults that do not fit",
      entity(
        "A",
        attribute("b", "Boolean", #"defaultValueString="maybe""#)
          + attribute("d", "Date", #"defaultValueString="2014-01-01""#)
          + attribute("e", "Date", #"defaultDateTimeInterval="x""#)
          + attribute("u", "UUID", #"defaultValueString="nope""#)), "A.b", "A.d", "A.e", "A.u"),
    DoubtfulPart(
      "limits that are none",
      entity(
        "A",
        attribute("m", "Integer 16", #"minValueString="low""#)
          + attribute("s", "String", #"maxValueString="1.5""#)), "A.m", "A.s"),
    DoubtfulPart(
      "limits that no value keeps, and a broken pattern",
      entity(
        "A",
        attribute("n", "Integer 16", #"minValueString="9" maxValueString="3""#)
          + attribute("s", "String", #"regularExpressionString="([""#))),
    DoubtfulPart(
      "words that are neither yes nor no",
      entity(
        "A",
        #"<attribute name="n" optional="perhaps" indexed="sometimes" attributeType="String"/>"#,
        #"isAbstract="maybe""#), "A", "A.n", "A.n"),
    DoubtfulPart(
      "derivations",
      entity(
        "A",
        attribute("d", "Integer 64", #"derived="YES" derivationExpression="things.@count(""#)
          + attribute("e", "Integer 64", #"derived="YES""#)
          + attribute("f", "Integer 64", #"derived="YES" derivationExpression="gone.@count""#)
          + attribute("g", "String", #"derived="YES" derivationExpression="canonical:(gone)""#)),
      "A.d", "A.e"),
    DoubtfulPart(
      "composites",
      entity(
        "A",
        #"<attribute name="addr" optional="YES" attributeType="Composite" type="Gone"/>"#
          + #"<compositeAttribute name="b" optional="YES"><attribute name="city" optional="YES" "#
          + #"attributeType="Fancy"/><attribute name="city" optional="YES" attributeType="String"/>"#
          + #"</compositeAttribute>"#), "A.b", "A.b", isKept: false),
  ]

  private static let destinations = [
    DoubtfulPart(
      "a to-one that leads nowhere",
      entity("A", relationship("x", "Nowhere") + attribute("n")), "A.x"),
    DoubtfulPart(
      "a to-one with an inverse that leads nowhere",
      entity("A", relationship("x", "Nowhere", "y") + attribute("n")), "A.x"),
    DoubtfulPart(
      "relationships without a destination",
      entity(
        "A",
        #"<relationship name="w" optional="YES" maxCount="1"/>"#
          + #"<relationship name="x" optional="YES" toMany="YES" deletionRule="Cascade"/>"#
          + relationship("y", "Nowhere", nil, #"toMany="YES" ordered="YES""#) + attribute("n")),
      "A.w", "A.x", "A.y"),
    DoubtfulPart(
      "a sub-entity of an entity whose relationship leads nowhere",
      entity("P", relationship("x", "Nowhere", nil, #"toMany="YES""#))
        + entity("A", relationship("z", "P"), #"parentEntity="P""#), "P.x"),
    DoubtfulPart(
      "transient relationships",
      entity("A", relationship("b", "B", "a", #"maxCount="1" transient="YES""#))
        + entity("B", relationship("a", "A", "b"))),
    DoubtfulPart(
      "an unknown delete rule",
      entity(
        "A",
        #"<relationship name="x" optional="YES" maxCount="1" destinationEntity="B" "#
          + #"inverseName="a" deletionRule="Explode"/>"#)
        + entity("B", relationship("a", "A", "x")), "A.x", isKept: false),
    DoubtfulPart(
      "counts that make no sense",
      entity("A", relationship("x", "B", "a", #"minCount="-3" maxCount="many" toMany="YES""#))
        + entity("B", relationship("a", "A", "x")), "A.x", "A.x"),
    DoubtfulPart(
      "more at least than at most",
      entity("A", relationship("x", "B", "a", #"minCount="5" maxCount="2" toMany="YES""#))
        + entity("B", relationship("a", "A", "x")), "A.x"),
  ]

  private static let inverses = [
    DoubtfulPart(
      "an inverse that leads back by another relationship",
      entity("A", relationship("x", "B", "y") + relationship("z", "B", "y"))
        + entity("B", relationship("y", "A", "z")), "A.x"),
    DoubtfulPart(
      "an inverse that has none",
      entity("A", relationship("x", "B", "y")) + entity("B", relationship("y", "A")), "A.x"),
    DoubtfulPart(
      "an inverse that leads to a third entity",
      entity("A", relationship("x", "B", "y")) + entity("B", relationship("y", "C", "b"))
        + entity("C", relationship("b", "B", "y")), "A.x"),
    DoubtfulPart(
      "inverses that are not there, and an attribute as one",
      entity("A", relationship("x", "B", "nothere") + relationship("z", "B", "t"))
        + entity("B", attribute("t")), "A.x", "A.z"),
    DoubtfulPart(
      "a relationship to itself that is half its own inverse",
      entity("A", relationship("p", "A", "q") + relationship("q", "A", "q")), "A.p"),
    DoubtfulPart(
      "a many-to-many of which one side is gone",
      entity("A", relationship("bs", "B", "as", #"toMany="YES""#))
        + entity("B", relationship("as", "A", "others", #"toMany="YES""#)), "A.bs", "B.as"),
    DoubtfulPart(
      "a to-many whose inverse belongs to another to-many",
      entity(
        "A",
        relationship("bs", "B", "a", #"toMany="YES""#)
          + relationship("cs", "B", "a", #"toMany="YES" ordered="YES""#))
        + entity("B", relationship("a", "A", "bs")), "A.cs"),
  ]

  private static let indexes = [
    DoubtfulPart(
      "two indexes of one name",
      entity("A", attribute("n") + attribute("m") + index("by", "n") + index("by", "m")), "A"),
    DoubtfulPart(
      "an index of nothing, and one without a name",
      entity(
        "A",
        attribute("n") + #"<fetchIndex name="by"/><fetchIndex><fetchIndexElement property="n"/>"#
          + #"</fetchIndex>"#), "A", isKept: false),
    DoubtfulPart(
      "indexes of unknown properties",
      entity(
        "A",
        attribute("n") + #"<fetchIndex name="byN"><fetchIndexElement property="gone"/>"#
          + #"<fetchIndexElement property="n"/></fetchIndex>"# + index("byGone", "gone")),
      "A", "A"),
    DoubtfulPart(
      "a partial index whose condition cannot be read",
      entity("A", attribute("n") + index("by", "n", #"partialIndexPredicate="n ==""#)), "A"),
    DoubtfulPart(
      "unknown kinds and orders of an index",
      entity(
        "A",
        attribute("n") + #"<fetchIndex name="by"><fetchIndexElement property="n" type="Fancy" "#
          + #"order="sideways"/></fetchIndex>"#), "A", "A", isKept: false),
    DoubtfulPart(
      "a constraint of unknown properties",
      entity("A", attribute("n") + constraint("n", "gone")), "A"),
    DoubtfulPart(
      "a compound index over a path",
      entity(
        "A",
        attribute("n") + relationship("b", "A", nil) + "<compoundIndexes><compoundIndex>"
          + #"<index value="n"/><index value="b.n"/></compoundIndex></compoundIndexes>"#), "A"),
  ]

  private static let others = [
    DoubtfulPart(
      "predicates that cannot be read",
      entity(
        "A",
        attribute("n") + #"<fetchedProperty name="f" optional="YES"><fetchRequest name="q" "#
          + #"entity="A" predicateString="n =="/></fetchedProperty>"#
          + #"<fetchedProperty name="g" optional="YES"/>"#)
        + #"<fetchRequest name="F" entity="A" predicateString="n == == 3"/>"#),
    DoubtfulPart(
      "fetch requests for unknown entities",
      entity(
        "A",
        attribute("n") + #"<fetchedProperty name="f" optional="YES"><fetchRequest name="q" "#
          + #"entity="Gone" predicateString="n == 1"/></fetchedProperty>"#)
        + #"<fetchRequest name="F" entity="Gone"/><fetchRequest name="G"/>"#,
      "", "", "", isKept: false),
    DoubtfulPart(
      "tags and attributes that nobody knows",
      entity("A", attribute("n", "String", #"mystery="x""#) + "<mystery/>")
        + #"<elements><element name="A" positionX="0"/></elements><strange/>"#),
  ]
}
