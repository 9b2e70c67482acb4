/// Which classes override `validateValue(_:forKey:)`.
///
/// Saving calls that method for each property of each object, with the value as `Any`: most of the
/// time of a save, and for nothing where a class has no rules of its own. Swift's runtime does not say
/// which methods a class overrides, but a class holds its methods as words of its metadata, each at the
/// place where its superclass has it (ABI/TypeMetadata in Swift's documents). The method's place is the
/// one word that a class which overrides nothing has in common with `NSManagedObject`, and a class which
/// overrides this method alone has not. Where there is no such word, every class counts as one that
/// overrides.
enum ValidationOverrides {
  /// Whether an object of the class may have rules beside the model's.
  ///
  /// Cost: two loads.
  static func mayExist(in type: NSManagedObject.Type) -> Bool {
    guard let place else { return true }
    return words(of: type)[place] != words(of: NSManagedObject.self)[place]
  }

  private class Plain: NSManagedObject {}

  private class Overriding: NSManagedObject {
    override func validateValue(_ value: inout Any?, forKey key: String) throws {}
  }

  /// Where the method stands in the metadata of each class.
  private static let place: Int? = {
    #if canImport(ObjectiveC)
      return nil  // The metadata begins otherwise, and its words are signed.
    #else
      let base = words(of: NSManagedObject.self)
      let plain = words(of: Plain.self)
      let overriding = words(of: Overriding.self)
      let places = methodPlaces(base).filter { plain[$0] == base[$0] && overriding[$0] != base[$0] }
      return places.count == 1 ? places[0] : nil
    #endif
  }()

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
