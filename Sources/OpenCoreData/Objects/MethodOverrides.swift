/// Which classes override a method that is called only for those that do.
///
/// Saving calls `validateValue(_:forKey:)` for each property of each object, with the value as `Any`:
/// most of the time of a save, and for nothing where a class has no rules of its own. The same holds
/// for `didChangeValue(forKey:)` and properties that are set. Swift's runtime does not say
/// which methods a class overrides, but a class holds its methods as words of its metadata, each at the
/// place where its superclass has it (ABI/TypeMetadata in Swift's documents). The method's place is the
/// one word that a class which overrides nothing has in common with `NSManagedObject`, and a class which
/// overrides this method alone has not. Where there is no such word, every class counts as one that
/// overrides.
struct MethodOverrides {
  /// Those of `validateValue(_:forKey:)`.
  static let ofValidation = MethodOverrides(of: Validating.self)
  /// Those of `didChangeValue(forKey:)`.
  static let ofChanges = MethodOverrides(of: Observing.self)

  /// Where the method stands in the metadata of each class.
  private let place: Int?

  /// Whether a class may override the method.
  ///
  /// Cost: two loads.
  func mayExist(in type: NSManagedObject.Type) -> Bool {
    guard let place else { return true }
    return MethodOverrides.words(of: type)[place]
      != MethodOverrides.words(of: NSManagedObject.self)[place]
  }

  private class Plain: NSManagedObject {}

  private class Validating: NSManagedObject {
    override func validateValue(_ value: inout Any?, forKey key: String) throws {}
  }

  private class Observing: NSManagedObject {
    override func didChangeValue(forKey key: String) {}
  }

  /// - Parameter overriding: A class that overrides the method and nothing else.
  private init(of overriding: NSManagedObject.Type) {
    #if canImport(ObjectiveC)
      place = nil  // The metadata begins otherwise, and its words are signed.
    #else
      let base = MethodOverrides.words(of: NSManagedObject.self)
      let plain = MethodOverrides.words(of: Plain.self)
      let overriding = MethodOverrides.words(of: overriding)
      let places = MethodOverrides.methodPlaces(base).filter {
        plain[$0] == base[$0] && overriding[$0] != base[$0]
      }
      place = places.count == 1 ? places[0] : nil
    #endif
  }

  private static func words(of type: NSManagedObject.Type) -> UnsafePointer<UInt> {
    unsafeBitCast(type, to: UnsafePointer<UInt>.self)
  }

  /// The words behind the fixed part, up to the end of the class.
  ///
  /// The fixed part: kind, superclass, sizes and flags in three words and a half, description, and
  /// what destroys the properties.
  private static func methodPlaces(_ metadata: UnsafePointer<UInt>) -> Range<Int> {
    let bytes = UnsafeRawPointer(metadata)
    let size = Int(bytes.load(fromByteOffset: 32, as: UInt32.self))
    let before = Int(bytes.load(fromByteOffset: 36, as: UInt32.self))
    let end = (size - before) / MemoryLayout<UInt>.stride
    return end > 7 ? 7..<end : 0..<0
  }
}
