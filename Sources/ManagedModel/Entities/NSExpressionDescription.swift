/// Describes a value that a fetch computes: a column of a dictionary result that no property holds.
///
/// It is part of a fetch request's `propertiesToFetch` and `propertiesToGroupBy`, not of an entity.
/// Counterpart: `NSExpressionDescription`; chapter 6 of the book.
public final class NSExpressionDescription: NSPropertyDescription, @unchecked Sendable {
  /// What is computed: `average:` over a key path, a key path with an operator, arithmetic.
  ///
  /// A function of one key path that crosses no to-many relationship, such as `sum:(age)`, is over the
  /// rows of the result, or of each group. Nil at first, which a fetch refuses.
  public var expression: NSExpression? { willSet { requireMutable() } }

  /// The type of the value in the dictionary; what the expression gives where it is undefined.
  public var expressionResultType = NSAttributeType.undefinedAttributeType {
    willSet { requireMutable() }
  }

  /// The type of the value in the dictionary, in Core Data's newer spelling of
  /// `expressionResultType`.
  public var resultType: NSAttributeDescription.AttributeType {
    get { NSAttributeDescription.AttributeType(expressionResultType) }
    set { expressionResultType = newValue.attributeType }
  }
}

extension NSExpressionDescription {
  /// What stands for a property that an index names and its entity does not have.
  convenience init(unknownProperty name: String) {
    self.init()
    self.name = name
    expression = NSExpression(forKeyPath: name)
  }

  /// Whether it is nothing but the name of a property.
  var isPlainName: Bool { expression?.expressionType == .keyPath && expression?.keyPath == name }
}
