import ManagedModel
import Synchronization

/// Finds the Swift class of an entity's objects.
///
/// Registered classes come first, under the whole name that the model writes. `Module.Class` is then
/// looked up as it stands, and `Class` or `.Class` in the program's own module. What is not found is
/// `NSManagedObject`, with one warning on stderr. A class of another module is never taken for the
/// sake of its name alone: two models of one program may have a `Country` each.
package enum ManagedObjectClasses {
  private struct State {
    var registered: [String: NSManagedObject.Type] = [:]
    var slots: [ObjectIdentifier: [SlotDeclaration]] = [:]
    var missing: Set<String> = []
    /// The entities of models in use, by the class of their objects, the last put to use last.
    var entities: [ObjectIdentifier: [UsedEntity]] = [:]
    var isSilent = false
  }

  private struct UsedEntity {
    weak var entity: NSEntityDescription?
  }

  private static let state = Mutex(State())

  /// Notes that a model in use has an entity of that class.
  static func note(_ entity: NSEntityDescription, of type: NSManagedObject.Type) {
    state.withLock { state in
      state.entities[ObjectIdentifier(type), default: []].removeAll { $0.entity == nil }
      state.entities[ObjectIdentifier(type), default: []].append(UsedEntity(entity: entity))
    }
  }

  /// The entities whose objects get that class, in the model that was put to use last.
  static func entities(of type: NSManagedObject.Type) -> [NSEntityDescription] {
    let known = state.withLock { state in
      (state.entities[ObjectIdentifier(type)] ?? []).compactMap(\.entity)
    }
    return known.filter { $0.managedObjectModel === known.last?.managedObjectModel }
  }

  /// Keeps the warnings back, for a program that opens stores without having their classes.
  package static func silenceWarnings() {
    state.withLock { $0.isSilent = true }
  }

  /// Registers a class under the name a model uses for it; generated code calls this.
  ///
  /// - Parameter slots: The slots that its generated accessors and its parents' use.
  static func register(
    _ type: NSManagedObject.Type, as name: String, slots: [SlotDeclaration] = []
  ) {
    state.withLock { state in
      state.registered[name] = type
      if !slots.isEmpty { state.slots[ObjectIdentifier(type)] = slots }
    }
  }

  /// The slots that a class was registered with; nil for a class without generated accessors.
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
    // A bare name is never found on Linux, and asking for one is slow.
    let qualified = isOfOwnModule ? "\(programModule).\(bare)" : name
    if !qualified.hasPrefix("."),
      let type = NSClassFromString(qualified) as? NSManagedObject.Type
    {
      return type
    }
    warn(of: name, bare, entity)
    return NSManagedObject.self
  }

  /// The module of the program that runs: its file's name as an identifier.
  private static var programModule: String {
    let file = CommandLine.arguments.first.map { URL(fileURLWithPath: $0).lastPathComponent } ?? ""
    return String(file.map { $0.isLetter || $0.isNumber ? $0 : "_" })
  }

  private static func warn(of name: String, _ bare: String, _ entity: NSEntityDescription) {
    let (isNew, namesake) = state.withLock { state in
      (!state.isSilent && state.missing.insert(name).inserted, state.registered[bare])
    }
    guard isNew else { return }
    let cure =
      namesake.map { "Register \(String(reflecting: $0)), if it is meant," } ?? "Register the class"
    let line =
      "CoreData: warning: The class '\(name)' of the entity '\(entity.name ?? "")' was not found; "
      + "its objects are plain NSManagedObjects. \(cure) with registerClass(named: \"\(name)\")."
    SQLDebugLog.writeToStandardError(line)
  }
}

extension NSManagedObject {
  /// Makes this class the one that objects of an entity get whose model names it.
  ///
  /// Call it before the first store is opened. A bare class name cannot be looked up on Linux, so a
  /// class that the model names without its module has to be registered. Without a name it counts for
  /// models that write `Class`, `.Class`, or `Module.Class` with the class's own module; a model that
  /// names another module needs that whole name here.
  /// - Parameter name: The class name in the model.
  public class func registerClass(named name: String? = nil) {
    guard let name else {
      ManagedObjectClasses.register(self, as: String(describing: self))
      ManagedObjectClasses.register(self, as: String(reflecting: self))
      return
    }
    ManagedObjectClasses.register(self, as: name)
  }

  /// Makes a generated class the one that objects of an entity get whose model names it.
  ///
  /// Generated code calls it. The slots are compared with the entity's when its model is first used;
  /// where one differs, for the model has changed since, the class's accessors go by name.
  ///
  /// - Parameters:
  ///   - name: The class name in the model.
  ///   - slots: Those of all generated accessors of the class, and those of its parents.
  public class func registerClass(named name: String, slots: [SlotDeclaration]...) {
    ManagedObjectClasses.register(self, as: name, slots: slots.flatMap { $0 })
  }
}
