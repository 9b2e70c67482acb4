/// Reads compiled mapping models (`.cdm`) and archived expressions: keyed archives.
///
/// Nothing is instantiated by class name, and the depth of expressions is limited.
struct MappingArchive {
  private let archive: KeyedArchive

  /// Reads the bytes of an archive.
  init(_ bytes: [UInt8]) throws(ModelError) {
    do {
      archive = try KeyedArchive(bytes)
    } catch {
      throw Self.error("The file isn't a keyed archive, or it's corrupt.")
    }
  }

  /// Returns the archived mapping model.
  ///
  /// - Throws: An error if the archive contains something else, or an expression of an unknown
  ///   kind.
  func mappingModel() throws(ModelError) -> NSMappingModel {
    guard archive.root.className == "NSMappingModel" else {
      throw Self.error("The archive contains a \(archive.root.className), not a mapping model.")
    }
    let members = archive.list(archive.root.fields["NSEntityMappings"])
    guard members.count <= ModelLimits.mappings else {
      throw Self.error("The archive has more than \(ModelLimits.mappings) entity mappings.")
    }
    var mappings: [NSEntityMapping] = []
    for member in members {
      guard let object = archive.object(member) else {
        throw Self.error("An entity mapping is missing.")
      }
      mappings.append(try entityMapping(object.fields))
    }
    if archive.isExhausted { throw KeyedArchive.exhaustion }
    let model = NSMappingModel()
    model.entityMappings = mappings
    return model
  }

  /// Returns the archived expression.
  func expression() throws(ModelError) -> NSExpression {
    let expression = try expression(archive.root, depth: 0)
    if archive.isExhausted { throw KeyedArchive.exhaustion }
    return expression
  }

  private typealias Fields = [String: BinaryPropertyList.Value]

  private func entityMapping(_ fields: Fields) throws(ModelError) -> NSEntityMapping {
    let mapping = NSEntityMapping()
    mapping.name = archive.string(fields["NSMappingName"]) ?? ""
    let type = archive.integer(fields["NSMappingType"]).flatMap { UInt(exactly: $0) }
    mapping.mappingType =
      type.flatMap(NSEntityMappingType.init) ?? .undefinedEntityMappingType
    mapping.sourceEntityName = archive.string(fields["NSSourceEntityName"])
    mapping.destinationEntityName = archive.string(fields["NSDestinationEntityName"])
    mapping.sourceEntityVersionHash = data(fields["NSSourceEntityVersionHash"])
    mapping.destinationEntityVersionHash = data(fields["NSDestinationEntityVersionHash"])
    mapping.entityMigrationPolicyClassName =
      archive.string(fields["NSEntityMigrationPolicyClassName"])
    mapping.userInfo = userInfo(fields["NSUserInfo"])
    if let source = archive.object(fields["NSSourceExpression"]) {
      mapping.sourceExpression = try expression(source, depth: 0)
    }
    mapping.attributeMappings = try properties(fields["NSAttributeMappings"], of: mapping)
    mapping.relationshipMappings = try properties(fields["NSRelationshipMappings"], of: mapping)
    return mapping
  }

  private func properties(
    _ list: BinaryPropertyList.Value?, of entity: NSEntityMapping
  ) throws(ModelError) -> [NSPropertyMapping] {
    let members = archive.list(list)
    guard members.count <= ModelLimits.mappings else {
      throw Self.error(
        "The mapping \(entity.name ?? "") has more than \(ModelLimits.mappings) properties.")
    }
    var mappings: [NSPropertyMapping] = []
    for member in members {
      guard let fields = archive.object(member)?.fields else {
        throw Self.error("A property mapping of \(entity.name ?? "") is missing.")
      }
      let name = archive.string(fields["NSDestinationPropertyName"]) ?? ""
      let mapping = NSPropertyMapping(name, nil)
      mapping.userInfo = userInfo(fields["NSUserInfo"])
      if let value = archive.object(fields["NSValueExpression"]) {
        do {
          mapping.valueExpression = try expression(value, depth: 0)
        } catch {
          var error = error
          error.entity = entity.destinationEntityName
          error.property = name
          throw error
        }
      }
      mappings.append(mapping)
    }
    return mappings
  }

  private func userInfo(_ value: BinaryPropertyList.Value?) -> [AnyHashable: Any]? {
    archive.object(value).map { _ in archive.userInfo(value) }
  }

  private func data(_ value: BinaryPropertyList.Value?) -> Data? {
    archive.anyValue(value) as? Data
  }

  private func expression(
    _ object: KeyedArchive.Object, depth: Int
  ) throws(ModelError) -> NSExpression {
    guard depth < ModelLimits.mappingExpressionDepth else {
      throw Self.error(
        "An expression is nested more than \(ModelLimits.mappingExpressionDepth) levels deep.")
    }
    let fields = object.fields
    let type = archive.integer(fields["NSExpressionType"]).flatMap { UInt(exactly: $0) }
    switch type.flatMap(NSExpression.ExpressionType.init) {
    case .constantValue:
      return NSExpression(forConstantValue: archive.anyValue(fields["NSConstantValue"]))
    case .evaluatedObject: return NSExpression.expressionForEvaluatedObject()
    case .variable:
      guard let name = archive.string(fields["NSVariable"]) else { break }
      return NSExpression(forVariable: name)
    case .keyPath:
      guard let path = archive.string(fields["NSKeyPath"]) else { break }
      return NSExpression(.keyPath(PredicateKeyPath(path)))
    case .function:
      if let function = try function(fields, depth) { return function }
    case .aggregate:
      return NSExpression(.aggregate(try expressions(fields["NSCollection"], depth)))
    case .fetchRequest:
      guard let request = archive.object(fields["NSFRExpression"]),
        let context = archive.object(fields["NSMOCExpression"])
      else { break }
      return NSExpression(
        .fetch(
          try expression(request, depth: depth + 1),
          context: try expression(context, depth: depth + 1),
          countOnly: archive.flag(fields["NSCountOnlyFlag"])))
    case .unionSet, .intersectSet, .minusSet, .subquery, .anyKey, .block, .conditional, nil:
      // The specifier of a key path has a type of its own.
      if let path = archive.string(fields["NSKeyPath"]) {
        return NSExpression(.keyPath(PredicateKeyPath(path)))
      }
    }
    throw Self.error("An expression of the class \(object.className) isn't supported.")
  }

  private func function(_ fields: Fields, _ depth: Int) throws(ModelError) -> NSExpression? {
    guard let name = archive.string(fields["NSSelectorName"]) else { return nil }
    let arguments = try expressions(fields["NSArguments"], depth)
    guard let operand = archive.object(fields["NSOperand"]),
      !operand.className.contains("_NSPredicateUtilities")
    else { return builtIn(name, arguments) }
    // A built-in function has Foundation's own class, as a constant, as its operand.
    if archive.string(operand.fields["NSConstantValueClassName"]) == "_NSPredicateUtilities" {
      return builtIn(name, arguments)
    }
    let target = try expression(operand, depth: depth + 1)
    guard name == "valueForKeyPath:", let path = arguments.first else {
      return NSExpression(.method(target, name, arguments))
    }
    return NSExpression(.path(target, path))
  }

  private func builtIn(_ name: String, _ arguments: [NSExpression]) -> NSExpression? {
    guard let function = PredicateFunction(rawValue: name), function.accepts(arguments.count)
    else { return nil }
    return NSExpression(.function(function, arguments))
  }

  private func expressions(
    _ list: BinaryPropertyList.Value?, _ depth: Int
  ) throws(ModelError) -> [NSExpression] {
    var expressions: [NSExpression] = []
    for member in archive.list(list) {
      guard let object = archive.object(member) else {
        throw Self.error("An argument of an expression is missing.")
      }
      expressions.append(try expression(object, depth: depth + 1))
    }
    return expressions
  }

  private static func error(_ message: String) -> ModelError {
    ModelError(
      message, nextStep: "Specify the .xcmappingmodel, or recompile it.")
  }
}
