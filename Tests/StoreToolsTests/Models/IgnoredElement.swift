import Testing

/// A model with elements that Xcode flags but compiles, and the expected warnings.
struct IgnoredElement: CustomTestStringConvertible {
  let testDescription: String
  /// The contents of the document's `model` element.
  let contents: String
  /// The entities and properties with warnings, in document order.
  let subjects: [String]
  /// Whether a copy of the model, as a document or compiled, contains the elements.
  let isPreserved: Bool

  init(
    _ testDescription: String, _ contents: String, _ subjects: String..., isPreserved: Bool = true
  ) {
    self.testDescription = testDescription
    self.contents = contents
    self.subjects = subjects
    self.isPreserved = isPreserved
  }

  static let all: [IgnoredElement] = names + types + destinations + inverses + indexes + others

  private static let names = [
    IgnoredElement(
      "a redeclared attribute of the parent entity",
      DocumentTags.entity("P", DocumentTags.attribute("n"))
        + DocumentTags.entity("A", DocumentTags.attribute("n", "Integer 16"), #"parentEntity="P""#),
      "A.n", isPreserved: false),
    IgnoredElement(
      "a redeclared relationship of the parent entity",
      DocumentTags.entity("P", DocumentTags.relationship("b", "B", "a"))
        + DocumentTags.entity("A", DocumentTags.relationship("b", "B", "a"), #"parentEntity="P""#)
        + DocumentTags.entity("B", DocumentTags.relationship("a", "P", "b")), "A.b",
      isPreserved: false),
    IgnoredElement(
      "an unknown parent entity",
      DocumentTags.entity("A", DocumentTags.attribute("n"), #"parentEntity="Gone""#), "A"),
    IgnoredElement(
      "a configuration with an unknown member, and one without a name",
      DocumentTags.entity("A", DocumentTags.attribute("n"))
        + #"<configuration name="C"><memberEntity name="Gone"/>"#
        + #"<memberEntity name="A"/></configuration><configuration/>"#, "", "", isPreserved: false),
    IgnoredElement(
      "names that differ only in case",
      DocumentTags.entity(
        "A",
        DocumentTags.attribute("name") + DocumentTags.attribute("Name")
          + DocumentTags.attribute("NAME"))
        + DocumentTags.entity("a", DocumentTags.attribute("x"))),
    IgnoredElement(
      "names of system columns",
      DocumentTags.entity(
        "A",
        DocumentTags.attribute("pk") + DocumentTags.attribute("_PK") + DocumentTags.attribute("ent")
          + DocumentTags.attribute("_OPT"))),
  ]

  private static let types = [
    IgnoredElement(
      "unknown and missing types",
      DocumentTags.entity(
        "A",
        DocumentTags.attribute("n", "Integer 128") + DocumentTags.attribute("m", "Fancy")
          + DocumentTags.attribute("k", "")
          + #"<attribute name="o" optional="YES"/>"#), "A.n", "A.m", "A.k", "A.o"),
    IgnoredElement(
      "invalid numeric default values",
      DocumentTags.entity(
        "A",
        DocumentTags.attribute("n", "Integer 16", #"defaultValueString="1.5""#)
          + DocumentTags.attribute("m", "Integer 32", #"defaultValueString="hello""#)
          + DocumentTags.attribute("k", "Integer 16", #"defaultValueString="99999""#)
          + DocumentTags.attribute("z", "Decimal", #"defaultValueString="1,5""#)
          + DocumentTags.attribute("f", "Float", #"defaultValueString="0,0""#)),
      "A.n", "A.m", "A.k", "A.z", "A.f"),
    IgnoredElement(
      "other invalid default values",
      DocumentTags.entity(
        "A",
        DocumentTags.attribute("b", "Boolean", #"defaultValueString="maybe""#)
          + DocumentTags.attribute("d", "Date", #"defaultValueString="2014-01-01""#)
          + DocumentTags.attribute("e", "Date", #"defaultDateTimeInterval="x""#)
          + DocumentTags.attribute("u", "UUID", #"defaultValueString="nope""#)), "A.b", "A.d",
      "A.e", "A.u"),
    IgnoredElement(
      "invalid minimum and maximum values",
      DocumentTags.entity(
        "A",
        DocumentTags.attribute("m", "Integer 16", #"minValueString="low""#)
          + DocumentTags.attribute("s", "String", #"maxValueString="1.5""#)), "A.m", "A.s"),
    IgnoredElement(
      "a minimum above the maximum, and an invalid pattern",
      DocumentTags.entity(
        "A",
        DocumentTags.attribute("n", "Integer 16", #"minValueString="9" maxValueString="3""#)
          + DocumentTags.attribute("s", "String", #"regularExpressionString="([""#))),
    IgnoredElement(
      "invalid Booleans",
      DocumentTags.entity(
        "A",
        #"<attribute name="n" optional="perhaps" indexed="sometimes" attributeType="String" "#
          + #"defaultValueString="x"/>"#,
        #"isAbstract="maybe""#), "A", "A.n", "A.n"),
    IgnoredElement(
      "invalid derivation expressions",
      DocumentTags.entity(
        "A",
        DocumentTags.attribute(
          "d", "Integer 64", #"derived="YES" derivationExpression="things.@count(""#)
          + DocumentTags.attribute("e", "Integer 64", #"derived="YES""#)
          + DocumentTags.attribute(
            "f", "Integer 64", #"derived="YES" derivationExpression="gone.@count""#)
          + DocumentTags.attribute(
            "g", "String", #"derived="YES" derivationExpression="canonical:(gone)""#)),
      "A.d", "A.e"),
    IgnoredElement(
      "composite attributes with invalid elements",
      DocumentTags.entity(
        "A",
        #"<attribute name="addr" optional="YES" attributeType="Composite" type="Gone"/>"#
          + #"<compositeAttribute name="b" optional="YES"><attribute name="city" optional="YES" "#
          + #"attributeType="Fancy"/><attribute name="city" optional="YES" attributeType="String"/>"#
          + #"</compositeAttribute>"#), "A.b", "A.b", isPreserved: false),
  ]

  private static let destinations = [
    IgnoredElement(
      "a to-one relationship without a valid destination",
      DocumentTags.entity(
        "A", DocumentTags.relationship("x", "Nowhere") + DocumentTags.attribute("n")), "A.x"),
    IgnoredElement(
      "a to-one relationship with an inverse and no valid destination",
      DocumentTags.entity(
        "A", DocumentTags.relationship("x", "Nowhere", "y") + DocumentTags.attribute("n")), "A.x"),
    IgnoredElement(
      "relationships without a destination",
      DocumentTags.entity(
        "A",
        #"<relationship name="w" optional="YES" maxCount="1"/>"#
          + #"<relationship name="x" optional="YES" toMany="YES" deletionRule="Cascade"/>"#
          + DocumentTags.relationship("y", "Nowhere", nil, #"toMany="YES" ordered="YES""#)
          + DocumentTags.attribute("n")),
      "A.w", "A.x", "A.y"),
    IgnoredElement(
      "required relationships without a valid destination",
      DocumentTags.entity(
        "A",
        #"<relationship name="w" maxCount="1" destinationEntity="Nowhere"/>"#
          + #"<relationship name="x" toMany="YES" minCount="2" destinationEntity="Nowhere"/>"#),
      "A.w", "A.x"),
    IgnoredElement(
      "a subentity of an entity with a relationship without a destination",
      DocumentTags.entity("P", DocumentTags.relationship("x", "Nowhere", nil, #"toMany="YES""#))
        + DocumentTags.entity("A", DocumentTags.relationship("z", "P"), #"parentEntity="P""#), "P.x"
    ),
    IgnoredElement(
      "transient relationships",
      DocumentTags.entity(
        "A", DocumentTags.relationship("b", "B", "a", #"maxCount="1" transient="YES""#))
        + DocumentTags.entity("B", DocumentTags.relationship("a", "A", "b"))),
    IgnoredElement(
      "an unknown delete rule",
      DocumentTags.entity(
        "A",
        #"<relationship name="x" optional="YES" maxCount="1" destinationEntity="B" "#
          + #"inverseName="a" deletionRule="Explode"/>"#)
        + DocumentTags.entity("B", DocumentTags.relationship("a", "A", "x")), "A.x",
      isPreserved: false),
    IgnoredElement(
      "invalid minimum and maximum counts",
      DocumentTags.entity(
        "A",
        DocumentTags.relationship("x", "B", "a", #"minCount="-3" maxCount="many" toMany="YES""#))
        + DocumentTags.entity("B", DocumentTags.relationship("a", "A", "x")), "A.x", "A.x"),
    IgnoredElement(
      "a minimum count above the maximum count",
      DocumentTags.entity(
        "A", DocumentTags.relationship("x", "B", "a", #"minCount="5" maxCount="2" toMany="YES""#))
        + DocumentTags.entity("B", DocumentTags.relationship("a", "A", "x")), "A.x"),
  ]

  private static let inverses = [
    IgnoredElement(
      "an inverse whose inverse is another relationship",
      DocumentTags.entity(
        "A", DocumentTags.relationship("x", "B", "y") + DocumentTags.relationship("z", "B", "y"))
        + DocumentTags.entity("B", DocumentTags.relationship("y", "A", "z")), "A.x"),
    IgnoredElement(
      "an inverse without an inverse",
      DocumentTags.entity("A", DocumentTags.relationship("x", "B", "y"))
        + DocumentTags.entity("B", DocumentTags.relationship("y", "A")), "A.x"),
    IgnoredElement(
      "an inverse whose destination is a third entity",
      DocumentTags.entity("A", DocumentTags.relationship("x", "B", "y"))
        + DocumentTags.entity("B", DocumentTags.relationship("y", "C", "b"))
        + DocumentTags.entity("C", DocumentTags.relationship("b", "B", "y")), "A.x"),
    IgnoredElement(
      "a missing inverse, and an attribute as an inverse",
      DocumentTags.entity(
        "A",
        DocumentTags.relationship("x", "B", "nothere") + DocumentTags.relationship("z", "B", "t"))
        + DocumentTags.entity("B", DocumentTags.attribute("t")), "A.x", "A.z"),
    IgnoredElement(
      "reflexive relationships with one inverse",
      DocumentTags.entity(
        "A", DocumentTags.relationship("p", "A", "q") + DocumentTags.relationship("q", "A", "q")),
      "A.p"),
    IgnoredElement(
      "a many-to-many relationship with a missing inverse",
      DocumentTags.entity("A", DocumentTags.relationship("bs", "B", "as", #"toMany="YES""#))
        + DocumentTags.entity("B", DocumentTags.relationship("as", "A", "others", #"toMany="YES""#)),
      "A.bs", "B.as"),
    IgnoredElement(
      "a to-many relationship whose inverse belongs to another one",
      DocumentTags.entity(
        "A",
        DocumentTags.relationship("bs", "B", "a", #"toMany="YES""#)
          + DocumentTags.relationship("cs", "B", "a", #"toMany="YES" ordered="YES""#))
        + DocumentTags.entity("B", DocumentTags.relationship("a", "A", "bs")), "A.cs"),
  ]

  private static let indexes = [
    IgnoredElement(
      "two indexes with the same name",
      DocumentTags.entity(
        "A",
        DocumentTags.attribute("n") + DocumentTags.attribute("m") + DocumentTags.index("by", "n")
          + DocumentTags.index("by", "m")), "A"),
    IgnoredElement(
      "an index without elements, and one without a name",
      DocumentTags.entity(
        "A",
        DocumentTags.attribute("n")
          + #"<fetchIndex name="by"/><fetchIndex><fetchIndexElement property="n"/>"#
          + #"</fetchIndex>"#), "A", isPreserved: false),
    IgnoredElement(
      "indexes of unknown properties",
      DocumentTags.entity(
        "A",
        DocumentTags.attribute("n")
          + #"<fetchIndex name="byN"><fetchIndexElement property="gone"/>"#
          + #"<fetchIndexElement property="n"/></fetchIndex>"#
          + DocumentTags.index("byGone", "gone")),
      "A", "A"),
    IgnoredElement(
      "a partial index with an invalid predicate",
      DocumentTags.entity(
        "A",
        DocumentTags.attribute("n")
          + DocumentTags.index("by", "n", #"partialIndexPredicate="n ==""#)), "A"),
    IgnoredElement(
      "unknown types and orders of index elements",
      DocumentTags.entity(
        "A",
        DocumentTags.attribute("n")
          + #"<fetchIndex name="by"><fetchIndexElement property="n" type="Fancy" "#
          + #"order="sideways"/></fetchIndex>"#), "A", "A", isPreserved: false),
    IgnoredElement(
      "a constraint with an unknown property",
      DocumentTags.entity("A", DocumentTags.attribute("n") + DocumentTags.constraint("n", "gone")),
      "A"),
    IgnoredElement(
      "a compound index with a key path",
      DocumentTags.entity(
        "A",
        DocumentTags.attribute("n") + DocumentTags.relationship("b", "A", nil)
          + "<compoundIndexes><compoundIndex>"
          + #"<index value="n"/><index value="b.n"/></compoundIndex></compoundIndexes>"#), "A"),
  ]

  private static let others = [
    IgnoredElement(
      "invalid predicates",
      DocumentTags.entity(
        "A",
        DocumentTags.attribute("n")
          + #"<fetchedProperty name="f" optional="YES"><fetchRequest name="q" "#
          + #"entity="A" predicateString="n =="/></fetchedProperty>"#
          + #"<fetchedProperty name="g" optional="YES"/>"#)
        + #"<fetchRequest name="F" entity="A" predicateString="n == == 3"/>"#),
    IgnoredElement(
      "fetch requests for unknown entities",
      DocumentTags.entity(
        "A",
        DocumentTags.attribute("n")
          + #"<fetchedProperty name="f" optional="YES"><fetchRequest name="q" "#
          + #"entity="Gone" predicateString="n == 1"/></fetchedProperty>"#)
        + #"<fetchRequest name="F" entity="Gone"/><fetchRequest name="G"/>"#,
      "", "", "", isPreserved: false),
    IgnoredElement(
      "unknown XML elements and attributes",
      DocumentTags.entity(
        "A", DocumentTags.attribute("n", "String", #"mystery="x""#) + "<mystery/>")
        + #"<elements><element name="A" positionX="0"/></elements><strange/>"#),
  ]
}
