import ManagedModel
import Synchronization

/// Finds the Swift class of an entity's objects.
///
/// Registered classes come first, then `Module.Class` as the model writes it, then the class in the
/// program's own module, then `NSManagedObject` with one warning on stderr.
package enum ManagedObjectClasses {
  private struct State {
    var registered: [String: NSManagedObject.Type] = [:]
    var slots: [ObjectIdentifier: [SlotDeclaration]] = [:]
    var missing: Set<String> = []
    var isSilent = false
  }

  private static let state = Mutex(State())

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
    let bare = name.split(separator: ".").last.map(String.init) ?? name
    if let type = state.withLock({ $0.registered[name] ?? $0.registered[bare] }) { return type }
    for candidate in [name, "\(programModule).\(bare)"] where !candidate.hasPrefix(".") {
      // A bare name is never found on Linux, and asking for one is slow.
      guard candidate.contains("."),
        let type = NSClassFromString(candidate) as? NSManagedObject.Type
      else { continue }
      return type
    }
    warn(of: name, entity)
    return NSManagedObject.self
  }

  /// The module of the program that runs: its file's name as an identifier.
  private static var programModule: String {
    let file = CommandLine.arguments.first.map { URL(fileURLWithPath: $0).lastPathComponent } ?? ""
    return String(file.map { $0.isLetter || $0.isNumber ? $0 : "_" })
  }

  private static func warn(of name: String, _ entity: NSEntityDescription) {
    let isNew = state.withLock { state in
      !state.isSilent && state.missing.insert(name).inserted
    }
    guard isNew else { return }
    let line =
      "CoreData: warning: The class '\(name)' of the entity '\(entity.name ?? "")' was not found; "
      + "its objects are plain NSManagedObjects. Register the class with registerClass().\n"
    FileHandle.standardError.write(Data(line.utf8))
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
