import ManagedModel

/// Checks a keyed archive before Foundation reads it.
///
/// Foundation's unarchiver on Linux stops the process on corrupt bytes, on an object of a class
/// that isn't allowed, and on an object that contains itself.
struct ArchiveCheck {
  private typealias Value = BinaryPropertyList.Value

  /// The names of the classes of all objects in the archive.
  let classNames: Set<String>

  /// Reads an archive's objects without creating instances of their classes.
  ///
  /// Takes time and memory in proportion to the bytes. Returns `nil` for bytes that aren't a binary
  /// keyed archive, and for objects that contain themselves or are nested too deeply.
  init?(_ data: Data) {
    let bytes = [UInt8](data)
    guard
      let list = try? BinaryPropertyList.read(bytes, limits: PropertyList.limits(for: bytes)),
      case .dictionary(let archive) = list, case .array(let objects)? = archive["$objects"],
      case .dictionary(let roots)? = archive["$top"]
    else { return nil }
    // Foundation stops the process on sets in a property list.
    guard Self.isReadable(list) else { return nil }
    var walk = Walk(objects: objects)
    for root in roots.values {
      guard walk.visit(root) != nil else { return nil }
    }
    classNames = walk.classNames
  }

  private static func isReadable(_ value: Value) -> Bool {
    switch value {
    case .set, .null: false
    case .array(let members): members.allSatisfy { isReadable($0) }
    case .dictionary(let fields): fields.values.allSatisfy { isReadable($0) }
    case .bool, .integer, .unsigned, .real, .date, .data, .string, .uid: true
    }
  }

  /// Returns whether every object is of one of some classes or of their subclasses.
  func containsOnly(_ allowed: [AnyClass]) -> Bool {
    classNames.allSatisfy { Self.isAllowed($0, allowed) }
  }

  /// Returns whether every object is of one of some classes, or of a class of the program that
  /// conforms to `NSCoding`.
  func containsOnlyCodable(_ allowed: [AnyClass]) -> Bool {
    classNames.allSatisfy { name in
      Self.isAllowed(name, allowed)
        || (name.contains(".") && NSClassFromString(name) is any NSCoding.Type)
    }
  }

  private static func isAllowed(_ name: String, _ allowed: [AnyClass]) -> Bool {
    guard let found = NSClassFromString(name) as? NSObject.Type else { return false }
    return allowed.contains { found.isSubclass(of: $0) }
  }

  /// A traversal of the references between objects, visiting each object once.
  private struct Walk {
    let objects: [Value]
    var classNames: Set<String> = []
    /// The nesting below each visited object.
    private var heights: [UInt32: Int] = [:]
    private var open: Set<UInt32> = []

    init(objects: [Value]) {
      self.objects = objects
    }

    /// Visits everything below a value.
    ///
    /// - Returns: The depth of objects nested below it; `nil` if one contains itself, or they are
    ///   nested too deeply.
    mutating func visit(_ value: Value, depth: Int = 0) -> Int? {
      guard depth < ModelLimits.archivedObjectDepth else { return nil }
      switch value {
      case .uid(let uid):
        guard uid > 0 else { return 0 }
        if let height = heights[uid] {
          return depth + height < ModelLimits.archivedObjectDepth ? height : nil
        }
        guard Int(uid) < objects.count, open.insert(uid).inserted,
          let below = visit(objects[Int(uid)], depth: depth + 1)
        else { return nil }
        open.remove(uid)
        heights[uid] = below + 1
        return below + 1
      case .array(let members), .set(let members):
        return visit(all: members, depth: depth + 1)
      case .dictionary(let fields):
        if let kind = fields["$class"], !note(kind) { return nil }
        return visit(all: fields.filter { $0.key != "$class" }.map(\.value), depth: depth + 1)
      case .null, .bool, .integer, .unsigned, .real, .date, .data, .string: return 0
      }
    }

    private mutating func visit(all members: [Value], depth: Int) -> Int? {
      var height = 0
      for member in members {
        guard let below = visit(member, depth: depth) else { return nil }
        height = max(height, below)
      }
      return height + 1
    }

    private mutating func note(_ reference: Value) -> Bool {
      guard case .uid(let uid) = reference, Int(uid) < objects.count,
        case .dictionary(let description) = objects[Int(uid)],
        case .string(let name)? = description["$classname"]
      else { return false }
      classNames.insert(name)
      return true
    }
  }
}
