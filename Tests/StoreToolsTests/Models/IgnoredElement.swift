import Testing

/// A model with a part that editors mark and compilers let pass, and what is warned of.
struct IgnoredElement: CustomTestStringConvertible {
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

  static let all: [IgnoredElement] = names + types + destinations + inverses + indexes + others

  private static let names = [
    IgnoredElement(
      "a property of the parent declared again",
      DocumentTags.entity("P", DocumentTags.attribute("n"))
        + DocumentTags.entity("A", DocumentTags.attribute("n", "Integer 16"), #"parentEntity="P""#),
      "A.n", isKept: false),
    IgnoredElement(
      "a relationship of the parent declared again",
      DocumentTags.entity("P", DocumentTags.relationship("b", "B", "a"))
        + DocumentTags.entity("A", DocumentTags.relationship("b", "B", "a"), #"parentEntity="P""#)
        + DocumentTags.entity("B", DocumentTags.relationship("a", "P", "b")), "A.b", isKept: false),
    IgnoredElement(
      "an unknown parent",
      DocumentTags.entity("A", DocumentTags.attribute("n"), #"parentEntity="Gone""#), "A"),
    IgnoredElement(
      "a configuration with an unknown member, and one without a name",
      DocumentTags.entity("A", DocumentTags.attribute("n"))
        + #"<configuration name="C"><memberEntity name="Gone"/>"#
        + #"<memberEntity name="A"/></configuration><configuration/>"#, "", "", isKept: false),
    IgnoredElement(
      "names that differ in case alone",
      DocumentTags.entity(
        "A",
        DocumentTags.attribute("name") + DocumentTags.attribute("Name")
          + DocumentTags.attribute("NAME"))
        + DocumentTags.entity("a", DocumentTags.attribute("x"))),
    IgnoredElement(
      "names of columns that every table has",
      DocumentTags.entity(
        "A",
        DocumentTags.attribute("pk") + DocumentTags.attribute("_PK") + DocumentTags.attribute("ent")
          + DocumentTags.attribute("_OPT"))),
  ]

  private static let types = [
    IgnoredElement(
      "unknown types, and none",
      DocumentTags.entity(
        "A",
        DocumentTags.attribute("n", "Integer 128") + DocumentTags.attribute("m", "Fancy")
          + DocumentTags.attribute("k", "")
          + #"<attribute name="o" optional="YES"/>"#), "A.n", "A.m", "A.k", "A.o"),
    IgnoredElement(
      "numbers that do not fit",
      DocumentTags.entity(
        "A",
        DocumentTags.attribute("n", "Integer 16", #"defaultValueString="1.5""#)
          + DocumentTags.attribute("m", "Integer 32", #"defaultValueString="hello""#)
          + DocumentTags.attribute("k", "Integer 16", #"defaultValueString="99999""#)
          + DocumentTags.attribute("z", "Decimal", #"defaultValueString="1,5""#)
          + DocumentTags.attribute("f", "Float", #"defaultValueString="0,0""#)),
      "A.n", "A.m", "A.k", "A.z", "A.f"),
    IgnoredElement(
      "other defaults that do not fit",
      DocumentTags.entity(
        "A",
        DocumentTags.attribute("b", "Boolean", #"defaultValueString="maybe""#)
          + DocumentTags.attribute("d", "Date", #"defaultValueString="2014-01-01""#)
          + DocumentTags.attribute("e", "Date", #"defaultDateTimeInterval="x""#)
          + DocumentTags.attribute("u", "UUID", #"defaultValueString="nope""#)), "A.b", "A.d",
      "A.e", "A.u"),
    IgnoredElement(
      "limits that are none",
      DocumentTags.entity(
        "A",
        DocumentTags.attribute("m", "Integer 16", #"minValueString="low""#)
          + DocumentTags.attribute("s", "String", #"maxValueString="1.5""#)), "A.m", "A.s"),
    IgnoredElement(
      "limits that no value keeps, and a broken pattern",
      DocumentTags.entity(
        "A",
        DocumentTags.attribute("n", "Integer 16", #"minValueString="9" maxValueString="3""#)
          + DocumentTags.attribute("s", "String", #"regularExpressionString="([""#))),
    IgnoredElement(
      "words that are neither yes nor no",
      DocumentTags.entity(
        "A",
        #"<attribute name="n" optional="perhaps" indexed="sometimes" attributeType="String" "#
          + #"defaultValueString="x"/>"#,
        #"isAbstract="maybe""#), "A", "A.n", "A.n"),
    IgnoredElement(
      "derivations",
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
      "composites",
      DocumentTags.entity(
        "A",
        #"<attribute name="addr" optional="YES" attributeType="Composite" type="Gone"/>"#
          + #"<compositeAttribute name="b" optional="YES"><attribute name="city" optional="YES" "#
          + #"attributeType="Fancy"/><attribute name="city" optional="YES" attributeType="String"/>"#
          + #"</compositeAttribute>"#), "A.b", "A.b", isKept: false),
  ]

  private static let destinations = [
    IgnoredElement(
      "a to-one that leads nowhere",
      DocumentTags.entity(
        "A", DocumentTags.relationship("x", "Nowhere") + DocumentTags.attribute("n")), "A.x"),
    IgnoredElement(
      "a to-one with an inverse that leads nowhere",
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
      "relationships that must lead somewhere and lead nowhere",
      DocumentTags.entity(
        "A",
        #"<relationship name="w" maxCount="1" destinationEntity="Nowhere"/>"#
          + #"<relationship name="x" toMany="YES" minCount="2" destinationEntity="Nowhere"/>"#),
      "A.w", "A.x"),
    IgnoredElement(
      "a subentity of an entity whose relationship leads nowhere",
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
        + DocumentTags.entity("B", DocumentTags.relationship("a", "A", "x")), "A.x", isKept: false),
    IgnoredElement(
      "counts that make no sense",
      DocumentTags.entity(
        "A",
        DocumentTags.relationship("x", "B", "a", #"minCount="-3" maxCount="many" toMany="YES""#))
        + DocumentTags.entity("B", DocumentTags.relationship("a", "A", "x")), "A.x", "A.x"),
    IgnoredElement(
      "more at least than at most",
      DocumentTags.entity(
        "A", DocumentTags.relationship("x", "B", "a", #"minCount="5" maxCount="2" toMany="YES""#))
        + DocumentTags.entity("B", DocumentTags.relationship("a", "A", "x")), "A.x"),
  ]

  private static let inverses = [
    IgnoredElement(
      "an inverse that leads back by another relationship",
      DocumentTags.entity(
        "A", DocumentTags.relationship("x", "B", "y") + DocumentTags.relationship("z", "B", "y"))
        + DocumentTags.entity("B", DocumentTags.relationship("y", "A", "z")), "A.x"),
    IgnoredElement(
      "an inverse that has none",
      DocumentTags.entity("A", DocumentTags.relationship("x", "B", "y"))
        + DocumentTags.entity("B", DocumentTags.relationship("y", "A")), "A.x"),
    IgnoredElement(
      "an inverse that leads to a third entity",
      DocumentTags.entity("A", DocumentTags.relationship("x", "B", "y"))
        + DocumentTags.entity("B", DocumentTags.relationship("y", "C", "b"))
        + DocumentTags.entity("C", DocumentTags.relationship("b", "B", "y")), "A.x"),
    IgnoredElement(
      "inverses that are not there, and an attribute as one",
      DocumentTags.entity(
        "A",
        DocumentTags.relationship("x", "B", "nothere") + DocumentTags.relationship("z", "B", "t"))
        + DocumentTags.entity("B", DocumentTags.attribute("t")), "A.x", "A.z"),
    IgnoredElement(
      "a relationship to itself that is half its own inverse",
      DocumentTags.entity(
        "A", DocumentTags.relationship("p", "A", "q") + DocumentTags.relationship("q", "A", "q")),
      "A.p"),
    IgnoredElement(
      "a many-to-many of which one side is gone",
      DocumentTags.entity("A", DocumentTags.relationship("bs", "B", "as", #"toMany="YES""#))
        + DocumentTags.entity("B", DocumentTags.relationship("as", "A", "others", #"toMany="YES""#)),
      "A.bs", "B.as"),
    IgnoredElement(
      "a to-many whose inverse belongs to another to-many",
      DocumentTags.entity(
        "A",
        DocumentTags.relationship("bs", "B", "a", #"toMany="YES""#)
          + DocumentTags.relationship("cs", "B", "a", #"toMany="YES" ordered="YES""#))
        + DocumentTags.entity("B", DocumentTags.relationship("a", "A", "bs")), "A.cs"),
  ]

  private static let indexes = [
    IgnoredElement(
      "two indexes of one name",
      DocumentTags.entity(
        "A",
        DocumentTags.attribute("n") + DocumentTags.attribute("m") + DocumentTags.index("by", "n")
          + DocumentTags.index("by", "m")), "A"),
    IgnoredElement(
      "an index of nothing, and one without a name",
      DocumentTags.entity(
        "A",
        DocumentTags.attribute("n")
          + #"<fetchIndex name="by"/><fetchIndex><fetchIndexElement property="n"/>"#
          + #"</fetchIndex>"#), "A", isKept: false),
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
      "a partial index whose condition cannot be read",
      DocumentTags.entity(
        "A",
        DocumentTags.attribute("n")
          + DocumentTags.index("by", "n", #"partialIndexPredicate="n ==""#)), "A"),
    IgnoredElement(
      "unknown kinds and orders of an index",
      DocumentTags.entity(
        "A",
        DocumentTags.attribute("n")
          + #"<fetchIndex name="by"><fetchIndexElement property="n" type="Fancy" "#
          + #"order="sideways"/></fetchIndex>"#), "A", "A", isKept: false),
    IgnoredElement(
      "a constraint of unknown properties",
      DocumentTags.entity("A", DocumentTags.attribute("n") + DocumentTags.constraint("n", "gone")),
      "A"),
    IgnoredElement(
      "a compound index over a path",
      DocumentTags.entity(
        "A",
        DocumentTags.attribute("n") + DocumentTags.relationship("b", "A", nil)
          + "<compoundIndexes><compoundIndex>"
          + #"<index value="n"/><index value="b.n"/></compoundIndex></compoundIndexes>"#), "A"),
  ]

  private static let others = [
    IgnoredElement(
      "predicates that cannot be read",
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
      "", "", "", isKept: false),
    IgnoredElement(
      "tags and attributes that nobody knows",
      DocumentTags.entity(
        "A", DocumentTags.attribute("n", "String", #"mystery="x""#) + "<mystery/>")
        + #"<elements><element name="A" positionX="0"/></elements><strange/>"#),
  ]
}
