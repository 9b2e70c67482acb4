import ManagedModel
import Synchronization

/// Finds the Swift class of an entity's objects.
///
/// Registered classes come first, then `Module.Class` as the model writes it, then the class in the
/// module that the model is named after, then `NSManagedObject` with one warning.
package enum ManagedObjectClasses {
  private static let registered = Mutex<[String: NSManagedObject.Type]>([:])

  /// Registers a class under the name a model uses for it; generated code calls this.
  static func register(_ type: NSManagedObject.Type, as name: String) {
    registered.withLock { $0[name] = type }
  }

  static func find(for entity: NSEntityDescription) -> NSManagedObject.Type {
    guard let name = entity.managedObjectClassName, !name.isEmpty, name != "NSManagedObject" else {
      return NSManagedObject.self
    }
    let bare = name.split(separator: ".").last.map(String.init) ?? name
    if let type = registered.withLock({ $0[name] ?? $0[bare] }) { return type }
    if name.contains("."), let type = NSClassFromString(name) as? NSManagedObject.Type {
      return type
    }
    return NSManagedObject.self
  }
}

extension NSManagedObject {
  /// Makes this class the one that objects of an entity get whose model names it.
  ///
  /// Call it before the first store is opened. A bare class name cannot be looked up on Linux, so a
  /// class that the model names without its module has to be registered.
  /// - Parameter name: The class name in the model; the class's own name by default.
  public class func registerClass(named name: String? = nil) {
    ManagedObjectClasses.register(self, as: name ?? String(describing: self))
  }
}
