import ManagedModel
import Synchronization

/// Turns the values of a transformable attribute into bytes and back.
///
/// Subclass it, override `transformedValue(_:)` (value to `Data`) and `reverseTransformedValue(_:)`
/// (`Data` to value), and register an instance under the name that the model gives, before the
/// coordinator is made. Bytes are turned back when an object is filled, values into bytes once a
/// save. Any thread may call a transformer. Apple counterpart: `ValueTransformer`, which Foundation
/// lacks on Linux; the book's chapter 5.
open class ValueTransformer: NSObject, RegisteredByName {
  /// Makes a transformer; a subclass says what it does.
  public override init() {
    super.init()
  }

  /// The class of what `transformedValue(_:)` gives.
  open class func transformedValueClass() -> AnyClass {
    NSData.self
  }

  /// Whether there is a way back; a transformable attribute needs one.
  open class func allowsReverseTransformation() -> Bool {
    true
  }

  /// The other form of a value; nil when it has none.
  open func transformedValue(_ value: Any?) -> Any? {
    value
  }

  /// The value again; nil when the other form makes none.
  open func reverseTransformedValue(_ value: Any?) -> Any? {
    value
  }

  // MARK: Names

  private static let registry = Mutex(
    Registry(transformers: [
      .secureUnarchiveFromDataTransformerName: NSSecureUnarchiveFromDataTransformer(),
      .keyedUnarchiveFromDataTransformerName: KeyedUnarchiveFromDataTransformer(),
    ]))

  private struct Registry: @unchecked Sendable {  // behind the lock; any thread may transform
    var transformers: [NSValueTransformerName: ValueTransformer]
  }

  /// Registers a transformer under a name, in the place of one that has it; nil takes that away.
  ///
  /// A model that is in use keeps the transformers it was begun with. Any thread may call it.
  public class func setValueTransformer(
    _ transformer: ValueTransformer?, forName name: NSValueTransformerName
  ) {
    nonisolated(unsafe) let transformer = transformer
    registry.withLock { $0.transformers[name] = transformer }
  }

  /// The names that are registered.
  public class func valueTransformerNames() -> [NSValueTransformerName] {
    registry.withLock { $0.transformers.keys.sorted { $0.rawValue < $1.rawValue } }
  }

  static func registered(_ name: NSValueTransformerName) -> ValueTransformer? {
    let registry = registry.withLock { $0 }
    return registry.transformers[name]
  }
}

/// Gives `ValueTransformer` an initialiser that finds an instance, which a class's own cannot do.
public protocol RegisteredByName {}

extension RegisteredByName where Self: ValueTransformer {
  /// The transformer that is registered under a name; nil when there is none, or one of another class.
  public init?(forName name: NSValueTransformerName) {
    guard let found = ValueTransformer.registered(name) as? Self else { return nil }
    self = found
  }
}
