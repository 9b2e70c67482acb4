import ManagedModel
import Synchronization

/// Finds the Swift class of an entity's objects.
///
/// Registered classes come first, by the full name in the model. Otherwise `Module.Class` is looked
/// up as is, and `Class` or `.Class` in the program's own module. If no class is found,
/// `NSManagedObject` is used, with one warning on stderr. A class of another module is never chosen
/// by its unqualified name: two models of one program may each have a `Country`.
package enum ManagedObjectClasses {
  private struct State {
    var registered: [String: NSManagedObject.Type] = [:]
    var slots: [ObjectIdentifier: [SlotDeclaration]] = [:]
    var missing: Set<String> = []
    /// The entities of models in use by the class of their objects, the most recently used model
    /// last.
    var entities: [ObjectIdentifier: [UsedEntity]] = [:]
    var isSilent = false
  }

  private struct UsedEntity {
    weak var entity: NSEntityDescription?
  }

  private static let state = Mutex(State())

  /// The class of objects whose entity's class isn't used, as during a migration.
  static var plain: NSManagedObject.Type { NSManagedObject.self }

  /// Records that a model in use has an entity with a class.
  static func note(_ entity: NSEntityDescription, of type: NSManagedObject.Type) {
    state.withLock { state in
      state.entities[ObjectIdentifier(type), default: []].removeAll { $0.entity == nil }
      state.entities[ObjectIdentifier(type), default: []].append(UsedEntity(entity: entity))
    }
  }

  /// Returns the entities whose objects have a class, in the most recently used model.
  static func entities(of type: NSManagedObject.Type) -> [NSEntityDescription] {
    let known = state.withLock { state in
      (state.entities[ObjectIdentifier(type)] ?? []).compactMap(\.entity)
        .filter { $0.managedObjectModel != nil }
    }
    return known.filter { $0.managedObjectModel === known.last?.managedObjectModel }
  }

  /// Suppresses the warnings, for a program that opens stores without having their classes.
  package static func silenceWarnings() {
    state.withLock { $0.isSilent = true }
  }

  /// Registers a class under the name that a model uses for it; generated code calls this.
  ///
  /// - Parameter slots: The slots that its generated accessors and those of its superclasses use.
  static func register(
    _ type: NSManagedObject.Type, as name: String, slots: [SlotDeclaration] = []
  ) {
    state.withLock { state in
      state.registered[name] = type
      if !slots.isEmpty { state.slots[ObjectIdentifier(type)] = slots }
    }
  }

  /// Returns the slots that a class was registered with; `nil` for a class without generated
  /// accessors.
  static func slots(of type: NSManagedObject.Type) -> [SlotDeclaration]? {
    state.withLock { $0.slots[ObjectIdentifier(type)] }
  }

  static func find(for entity: NSEntityDescription) -> NSManagedObject.Type {
    guard let name = entity.managedObjectClassName, !name.isEmpty, name != "NSManagedObject" else {
      return NSManagedObject.self
    }
    let path = name.split(separator: ".", omittingEmptySubsequences: false)
    let bare = String(path[path.count - 1])
    let isOfOwnModule = path.count == 1 || path.dropLast().allSatisfy(\.isEmpty)
    let registered = state.withLock { state in
      state.registered[name] ?? (isOfOwnModule ? state.registered[bare] : nil)
    }
    if let registered { return registered }
    // An unqualified name is never found on Linux, and looking one up is slow.
    let qualified = isOfOwnModule ? "\(programModule).\(bare)" : name
    if !qualified.hasPrefix("."),
      let type = NSClassFromString(qualified) as? NSManagedObject.Type
    {
      return type
    }
    warn(of: name, bare, entity)
    return NSManagedObject.self
  }

  /// The module of the running program: its file name as an identifier.
  private static var programModule: String {
    let file = CommandLine.arguments.first.map { URL(fileURLWithPath: $0).lastPathComponent } ?? ""
    return String(file.map { $0.isLetter || $0.isNumber ? $0 : "_" })
  }

  private static func warn(of name: String, _ bare: String, _ entity: NSEntityDescription) {
    let (isNew, namesake) = state.withLock { state in
      (!state.isSilent && state.missing.insert(name).inserted, state.registered[bare])
    }
    guard isNew else { return }
    let advice =
      namesake.map { "Register \(String(reflecting: $0)), if it is meant," } ?? "Register the class"
    let line =
      "CoreData: warning: The class '\(name)' of the entity '\(entity.name ?? "")' was not found; "
      + "its objects are plain NSManagedObjects. \(advice) with registerClass(named: \"\(name)\")."
    SQLDebugLog.writeToStandardError(line)
  }
}

extension NSManagedObject {
  /// Registers this class for the entities whose model names it.
  ///
  /// Call this method before the first store is opened. An unqualified class name can't be looked
  /// up on Linux, so a class that the model names without its module must be registered. Without a
  /// name, the class is used for models that specify `Class`, `.Class`, or `Module.Class` with the
  /// class's own module; if a model names another module, pass that full name here.
  /// - Parameter name: The class name in the model.
  public class func registerClass(named name: String? = nil) {
    guard let name else {
      ManagedObjectClasses.register(self, as: String(describing: self))
      ManagedObjectClasses.register(self, as: String(reflecting: self))
      return
    }
    ManagedObjectClasses.register(self, as: name)
  }

  /// Registers a generated class for the entities whose model names it.
  ///
  /// Generated code calls this method. The slots are compared with the entity's when its model is
  /// first used; if one differs because the model has changed since, the accessors look properties
  /// up by name.
  ///
  /// - Parameters:
  ///   - name: The class name in the model.
  ///   - slots: The slots of all generated accessors of the class and its superclasses.
  public class func registerClass(named name: String, slots: [SlotDeclaration]...) {
    ManagedObjectClasses.register(self, as: name, slots: slots.flatMap { $0 })
  }
}
