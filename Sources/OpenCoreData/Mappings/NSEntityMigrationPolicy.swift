import ManagedModel
import Synchronization

/// Migrates the instances of one entity mapping.
///
/// Subclass it, override the steps that differ, and name the subclass in the mapping model; call
/// `registerClass(named:)` if the mapping model names another module. One instance is created for
/// each entity mapping of a migration. The migration calls it on one thread, on the queues of both
/// contexts. Apple counterpart: `NSEntityMigrationPolicy`; the book's chapter 14.
///
/// Instances are plain `NSManagedObject`s, whatever classes the models name: read and set their
/// properties with `value(forKey:)` and `setValue(_:forKey:)`. An error that a step throws ends the
/// migration, and `migrateStore` throws it.
open class NSEntityMigrationPolicy: NSObject {
  /// Creates a policy.
  public override required init() {
    super.init()
  }

  /// Prepares for the mapping; called once, before the first instance.
  ///
  /// The implementation does nothing.
  open func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws {}

  /// Creates the destination instances of a source instance, and associates them with it.
  ///
  /// The implementation creates one, sets its attributes, and calls
  /// `associate(sourceInstance:withDestinationInstance:for:)`. An override that doesn't call
  /// `super` can create any number of instances; only associated ones get relationships and are
  /// found by the other mappings. Relationships must not be set: their destinations may not exist
  /// yet.
  ///
  /// **Cost:** one INSERT for each instance, written in batches.
  /// - Throws: 134110 if a value doesn't have the type of its attribute, an expression can't be
  ///   evaluated, or the destination entity is abstract.
  open func createDestinationInstances(
    forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    guard let plan = try manager.plan(for: mapping), let entity = plan.destination else { return }
    guard !entity.isAbstract else { throw plan.abstractDestination(sInstance) }
    let destination = NSManagedObject(entity: entity, insertInto: manager.destinationContext)
    try plan.setAttributes(of: destination, from: sInstance, by: self, manager)
    manager.associate(sourceInstance: sInstance, withDestinationInstance: destination, for: mapping)
  }

  /// Ends the creation of instances; called once, when all source instances are processed.
  ///
  /// The implementation does nothing.
  open func endInstanceCreation(
    forMapping mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {}

  /// Sets the relationships of a destination instance; called for each associated one, when the
  /// instances of all mappings exist.
  ///
  /// The implementation sets those of the mapping. **Cost:** one UPDATE for each changed instance,
  /// written in batches; the faults of related instances that no batch has loaded.
  /// - Throws: 134110 if a value can't be the relationship's, or an expression can't be evaluated.
  open func createRelationships(
    forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping,
    manager: NSMigrationManager
  ) throws {
    guard let plan = try manager.plan(for: mapping), plan.setsRelationships else { return }
    let source = manager.sourceInstances(
      forEntityMappingName: mapping.name, destinationInstances: [dInstance]
    ).first
    try plan.setRelationships(of: dInstance, from: source, by: self, manager)
  }

  /// Ends the creation of relationships; called once, when all destination instances are processed.
  ///
  /// The implementation does nothing.
  open func endRelationshipCreation(
    forMapping mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {}

  /// Validates the destination instances beyond the rules of the model; called once, before those
  /// are checked.
  ///
  /// The implementation does nothing. Fetch the instances from the manager's `destinationContext`.
  open func performCustomValidation(
    forMapping mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {}

  /// Cleans up after the mapping; called once, at the end.
  ///
  /// The implementation does nothing.
  open func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

  /// Calls a method that an expression names:
  /// `FUNCTION($entityPolicy, "codeForName:", $source.name)`.
  ///
  /// Swift on Linux can't look methods up by selector, so override this method and switch over the
  /// selectors of the mapping model. The implementation throws. No Apple counterpart: there, the
  /// Objective-C runtime calls the method itself.
  ///
  /// - Parameters:
  ///   - selector: The selector, with a colon for each argument.
  ///   - arguments: The values of the arguments; collections are arrays.
  /// - Throws: 134170 from the implementation; any error of an override.
  open func perform(_ selector: String, with arguments: [Any?]) throws -> Any? {
    throw NSError.coreData(
      NSEntityMigrationPolicyError,
      "\(type(of: self)) has no method \(selector). Override perform(_:with:) and handle this selector."
    )
  }
}

extension NSEntityMigrationPolicy: ExpressionOperand {
  /// Calls `perform(_:with:)`.
  package final func callMethod(
    _ selector: String, with arguments: [Any?]
  ) throws(PredicateEvaluationError) -> Any? {
    do {
      return try perform(selector, with: arguments)
    } catch {
      throw .failed(selector, reason: (error as NSError).localizedDescription)
    }
  }
}

extension NSEntityMigrationPolicy {
  private static let registered = Mutex<[String: NSEntityMigrationPolicy.Type]>([:])

  /// Registers this class under the name that a mapping model uses for it.
  ///
  /// Call it before the migration. It isn't needed if the mapping model has the class's own module
  /// and name.
  /// - Parameter name: The name in the mapping model, such as `App.CountryPolicy`.
  public class func registerClass(named name: String) {
    let type = self
    registered.withLock { $0[name] = type }
  }

  /// Creates the policy of a mapping.
  ///
  /// - Throws: 134170 if there's no class with the name.
  static func make(for mapping: NSEntityMapping) throws -> NSEntityMigrationPolicy {
    guard let name = mapping.entityMigrationPolicyClassName, !name.isEmpty,
      name != "NSEntityMigrationPolicy"
    else {
      guard mapping.mappingType != .customEntityMappingType else {
        throw NSError.coreData(
          NSEntityMigrationPolicyError,
          "The mapping \(mapping.name ?? "") is a custom one, but names no policy class.")
      }
      return NSEntityMigrationPolicy()
    }
    // A name without a module is never found on Linux, and looking one up is slow.
    let type =
      registered.withLock { $0[name] }
      ?? (name.contains(".") ? NSClassFromString(name) as? NSEntityMigrationPolicy.Type : nil)
    guard let type else {
      throw NSError.coreData(
        NSEntityMigrationPolicyError,
        "There's no policy class \(name), which the mapping \(mapping.name ?? "") names. Register it with "
          + "registerClass(named: \"\(name)\").", ["class": name])
    }
    return type.init()
  }
}
