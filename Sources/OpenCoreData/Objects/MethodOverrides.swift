import ManagedModel

/// Detects which classes override a method, so that it's called only for those.
///
/// Saving calls `validateValue(_:forKey:)` for each property of each object, with the value as
/// `Any`: most of a save's time, and useless if a class has no rules of its own. The same is true
/// of `didChangeValue(forKey:)` and properties that are set, and of `awakeFromFetch()`. Swift's
/// runtime doesn't provide which methods a class overrides, but a class stores its methods as words
/// of its metadata, each at the same offset as in its superclass (ABI/TypeMetadata in Swift's
/// documents). The method's offset is the one at which the word equals `NSManagedObject`'s for a
/// class that overrides nothing, and differs for a class that overrides only this method. If
/// there's no such word, every class is assumed to override it.
struct MethodOverrides {
  /// Detects overrides of `validateValue(_:forKey:)`.
  static let ofValidation = MethodOverrides(of: Validating.self)
  /// Detects overrides of `didChangeValue(forKey:)`.
  static let ofChanges = MethodOverrides(of: Observing.self)
  /// Detects overrides of `awakeFromFetch()`.
  static let ofAwaking = MethodOverrides(of: Awaking.self)

  /// The method's offset in the metadata of each class.
  private let position: Int?

  /// Returns whether a class may override the method.
  ///
  /// **Cost:** two loads.
  func mayExist(in type: NSManagedObject.Type) -> Bool {
    guard let position else { return true }
    return MethodOverrides.words(of: type)[position]
      != MethodOverrides.words(of: NSManagedObject.self)[position]
  }

  private class Plain: NSManagedObject {}

  private class Validating: NSManagedObject {
    override func validateValue(_ value: inout Any?, forKey key: String) throws {}
  }

  private class Observing: NSManagedObject {
    override func didChangeValue(forKey key: String) {}
  }

  /// Its method isn't empty as the overridden one is: equal functions may be merged into one.
  private class Awaking: NSManagedObject {
    override func awakeFromFetch() { willSave() }
  }

  /// - Parameter overriding: A class that overrides only the method.
  private init(of overriding: NSManagedObject.Type) {
    #if canImport(ObjectiveC)
      position = nil  // The metadata begins otherwise, and its words are signed.
    #else
      let base = MethodOverrides.words(of: NSManagedObject.self)
      let plain = MethodOverrides.words(of: Plain.self)
      let overriding = MethodOverrides.words(of: overriding)
      let positions = MethodOverrides.methodRange(base).filter {
        plain[$0] == base[$0] && overriding[$0] != base[$0]
      }
      position = positions.count == 1 ? positions[0] : nil
    #endif
  }

  /// Returns the metadata of a class as words.
  ///
  /// A class reference is the address of its metadata, for which Swift has no other conversion.
  private static func words(of type: NSManagedObject.Type) -> UnsafePointer<UInt> {
    unsafeBitCast(type, to: UnsafePointer<UInt>.self)
  }

  /// Returns the words after the fixed part, up to the end of the class.
  ///
  /// The fixed part: kind, superclass, sizes and flags in three and a half words, description, and
  /// the destroyer of the properties.
  private static func methodRange(_ metadata: UnsafePointer<UInt>) -> Range<Int> {
    let bytes = UnsafeRawPointer(metadata)
    let size = Int(bytes.load(fromByteOffset: 32, as: UInt32.self))
    let before = Int(bytes.load(fromByteOffset: 36, as: UInt32.self))
    let end = (size - before) / MemoryLayout<UInt>.stride
    return end > 7 ? 7..<end : 0..<0
  }
}
