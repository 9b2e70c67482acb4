public import Foundation

/// A key to sort by, with direction and comparison. Counterpart: `NSSortDescriptor`.
///
/// Sort descriptors are immutable and can be used from any thread. In ascending order, `nil` comes
/// before every value, like NULL in SQLite. Values that can't be compared, such as a string and a
/// number, are sorted by kind.
///
/// If the name is "ambiguous for type lookup", import `OpenCoreData` without Foundation, or add
/// `import class ManagedModel.NSSortDescriptor`.
// Sendable is unchecked because NSObject isn't Sendable; all state is constant.
open class NSSortDescriptor: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
  /// The comparisons that Foundation's API names by a selector.
  public enum Comparison: String, Sendable, CaseIterable {
    /// Compares numbers by value, dates by time, and strings by their bytes.
    case binary = "compare:"
    case caseInsensitiveCompare = "caseInsensitiveCompare:"
    /// Compares strings according to the current locale.
    case localizedCompare = "localizedCompare:"
    case localizedCaseInsensitiveCompare = "localizedCaseInsensitiveCompare:"
    /// Compares strings as in file lists, with numbers in strings by value.
    case localizedStandardCompare = "localizedStandardCompare:"
  }

  /// The key path whose values are compared; `nil` to compare the objects.
  public let key: String?
  /// Whether smaller values come first.
  public let ascending: Bool
  /// The comparison by the name of Foundation's `selector`, which isn't available on Linux; `nil`
  /// with a comparator.
  public let comparison: Comparison?
  private let block: (@Sendable (Any, Any) -> ComparisonResult)?
  private let path: PredicateKeyPath?
  /// The Swift key path that the descriptor was created with.
  package let swiftKeyPath: AnyKeyPath?

  private init(
    key: String?, ascending: Bool, comparison: Comparison?,
    block: (@Sendable (Any, Any) -> ComparisonResult)?, keyPath: AnyKeyPath? = nil
  ) {
    self.key = key
    swiftKeyPath = keyPath
    self.ascending = ascending
    self.comparison = comparison
    self.block = block
    path = key.map { PredicateKeyPath($0) }
  }

  /// Creates a sort descriptor that compares numbers by value and strings by their bytes.
  public convenience init(key: String?, ascending: Bool) {
    self.init(key: key, ascending: ascending, comparison: .binary, block: nil)
  }

  /// Creates a sort descriptor with a named comparison.
  ///
  /// - Parameters:
  ///   - key: The key path; `nil` sorts by the objects themselves.
  ///   - ascending: Whether the smallest value is first.
  ///   - selector: The comparison, which is a `Selector` in Foundation; `nil` is `.binary`.
  public convenience init(key: String?, ascending: Bool, selector: Comparison?) {
    self.init(key: key, ascending: ascending, comparison: selector ?? .binary, block: nil)
  }

  /// Creates a sort descriptor for a Swift key path, whose name, if known, is the key.
  package convenience init(
    key: String?, keyPath: AnyKeyPath, ascending: Bool, comparison: Comparison
  ) {
    self.init(
      key: key, ascending: ascending, comparison: comparison, block: nil, keyPath: keyPath)
  }

  /// Creates a sort descriptor with a comparator for a Swift key path, whose name, if known, is the
  /// key.
  package convenience init(
    key: String?, keyPath: AnyKeyPath, ascending: Bool,
    comparator: @escaping @Sendable (Any, Any) -> ComparisonResult
  ) {
    self.init(
      key: key, ascending: ascending, comparison: nil, block: comparator, keyPath: keyPath)
  }

  /// Creates a sort descriptor with a comparator.
  ///
  /// It can't be translated to SQL.
  public convenience init(
    key: String?, ascending: Bool,
    comparator: @escaping @Sendable (Any, Any) -> ComparisonResult
  ) {
    self.init(key: key, ascending: ascending, comparison: nil, block: comparator)
  }

  /// Whether the class supports secure coding.
  ///
  /// Always true: untrusted archives can be read.
  open class var supportsSecureCoding: Bool { true }

  /// Decodes a sort descriptor with Foundation's keys, or returns `nil` for an unknown selector.
  public required init?(coder: NSCoder) {
    guard let comparison = Comparison(rawValue: coder.archivedText("NSSelector") ?? "compare:")
    else { return nil }
    let key = coder.archivedText("NSKey")
    self.key = key
    self.comparison = comparison
    ascending = coder.archivedInteger("NSAscending") == 1
    block = nil
    swiftKeyPath = nil
    path = key.map { PredicateKeyPath($0) }
  }

  /// Encodes the sort descriptor.
  ///
  /// Traps for one with a comparator, where Foundation raises an exception.
  open func encode(with coder: NSCoder) {
    guard let comparison else {
      fatalError("a sort descriptor with a comparator block can't be archived")
    }
    if let key { coder.encode(NSString(string: key), forKey: "NSKey") }
    coder.encode(ascending ? 1 : 0, forKey: "NSAscending")
    coder.encode(NSString(string: comparison.rawValue), forKey: "NSSelector")
  }

  /// Does nothing: a decoded sort descriptor can be used, as `NSPredicate.allowEvaluation()`
  /// describes.
  open func allowEvaluation() {}

  /// The Swift key path that the descriptor was created with; `nil` for one with a key as text.
  ///
  /// An archive doesn't contain it.
  public var keyPath: AnyKeyPath? { swiftKeyPath }

  /// The comparator of the initializer, or one for the selector.
  ///
  /// It receives `NSNull` for `nil`.
  open var comparator: @Sendable (Any, Any) -> ComparisonResult {
    if let block { return block }
    let comparison = comparison ?? .binary
    return { left, right in
      comparison.compare(PredicateValue(left), PredicateValue(right))
    }
  }

  /// A sort descriptor with the same key and comparison, in the opposite direction.
  open var reversedSortDescriptor: Any {
    NSSortDescriptor(
      key: key, ascending: !ascending, comparison: comparison, block: block, keyPath: swiftKeyPath)
  }

  /// Returns a sort descriptor with the same direction and comparison for another key.
  package func keyed(by key: String) -> NSSortDescriptor {
    NSSortDescriptor(key: key, ascending: ascending, comparison: comparison, block: block)
  }

  /// Returns the order of two objects.
  ///
  /// Reads the key path of both, which can fire faults. Traps for a key that a Swift value doesn't
  /// have.
  open func compare(_ object1: Any, to object2: Any) -> ComparisonResult {
    compare(value(of: object1), value(of: object2))
  }

  /// Returns the order of two objects, like `compare(_:to:)`.
  ///
  /// A subclass, which can override the comparison, compares them itself.
  /// - Throws: An error if a value of the key path can't be computed, such as a sum of strings.
  package func order(
    of object1: Any, _ object2: Any
  ) throws(PredicateEvaluationError) -> ComparisonResult {
    if isSubclass { return compare(object1, to: object2) }
    return compare(try computedValue(of: object1), try computedValue(of: object2))
  }

  /// Checks that the value of an object can be computed; that of a subclass isn't read.
  ///
  /// - Throws: As `order(of:_:)`.
  package func checkValue(of object: Any) throws(PredicateEvaluationError) {
    if !isSubclass { _ = try computedValue(of: object) }
  }

  /// Whether a subclass can override the comparison.
  fileprivate var isSubclass: Bool { type(of: self) != NSSortDescriptor.self }

  /// Returns the order of two objects by their values.
  fileprivate func compare(_ left: PredicateValue, _ right: PredicateValue) -> ComparisonResult {
    let order: ComparisonResult
    if let block {
      order = block(left.original ?? NSNull(), right.original ?? NSNull())
    } else if let found = PredicateValue.orderByID(left, right), sortsByID {
      order = found
    } else {
      order = (comparison ?? .binary).compare(left, right)
    }
    return ascending ? order : order.reversed
  }

  /// Whether the objects themselves are compared, by their IDs: other objects have no order.
  private var sortsByID: Bool { key == "self" || key == "SELF" || key == "objectID" }

  private func value(of object: Any) -> PredicateValue {
    do {
      return try computedValue(of: object)
    } catch {
      fatalError(error.description)
    }
  }

  fileprivate func computedValue(
    of object: Any
  ) throws(PredicateEvaluationError) -> PredicateValue {
    guard let path else {
      return swiftKeyPath.map { PredicateValue(object[keyPath: $0]) } ?? PredicateValue(object)
    }
    return try KeyPathReader.value(of: path, from: object)
  }

  /// Returns the sort descriptor itself, which is immutable.
  open func copy(with zone: NSZone?) -> Any {
    self
  }

  /// The sort descriptor in Foundation's format: `(name, ascending, compare:)`.
  open override var description: String {
    let manner = comparison?.rawValue ?? "block"
    return "(\(key ?? "self"), \(ascending ? "ascending" : "descending"), \(manner))"
  }

  /// Returns whether another sort descriptor has the same key, direction, and named comparison; one
  /// with a comparator is equal to itself only.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSSortDescriptor else { return false }
    if self === other { return true }
    return block == nil && other.block == nil && key == other.key
      && (key != nil || swiftKeyPath == other.swiftKeyPath)
      && ascending == other.ascending && comparison == other.comparison
  }

  open override var hash: Int {
    var hasher = Hasher()
    hasher.combine(key)
    hasher.combine(ascending)
    hasher.combine(comparison)
    return hasher.finalize()
  }
}

extension ComparisonResult {
  /// The order of the same values in the opposite direction.
  fileprivate var reversed: ComparisonResult {
    switch self {
    case .orderedAscending: .orderedDescending
    case .orderedSame: .orderedSame
    case .orderedDescending: .orderedAscending
    }
  }
}

extension NSSortDescriptor.Comparison {
  /// Returns the order of two values; the named comparisons differ for strings and URLs only.
  package func compare(_ left: PredicateValue, _ right: PredicateValue) -> ComparisonResult {
    guard self != .binary, let left = left.searchText, let right = right.searchText else {
      return PredicateValue.order(left, right)
    }
    return switch self {
    case .binary: PredicateValue.order(.string(left), .string(right))
    case .caseInsensitiveCompare: StringMatching.compare(left, right, [.caseInsensitive])
    case .localizedCompare: StringMatching.compare(left, right, [.localeSensitive])
    case .localizedCaseInsensitiveCompare:
      StringMatching.compare(left, right, [.caseInsensitive, .localeSensitive])
    case .localizedStandardCompare: StringOrder.standard(left, right, in: .current)
    }
  }
}

extension Sequence {
  /// Returns the elements sorted by descriptors, of which the first is the most significant.
  ///
  /// The sort is stable.
  ///
  /// Counterpart: `NSArray.sortedArray(using:)`. **Cost:** reads the key path of the first
  /// descriptor once for each of several elements, and others once for each element that's equal to
  /// another one so far. Descriptors of subclasses read theirs at each comparison.
  public func sorted(using descriptors: [NSSortDescriptor]) -> [Element] {
    do {
      return try ordered(by: descriptors)
    } catch {
      fatalError("\(error)")
    }
  }

  /// Returns the elements sorted like `sorted(using:)`.
  ///
  /// - Throws: An error if a value of a key path can't be computed, such as a sum of strings.
  package func ordered(by descriptors: [NSSortDescriptor]) throws -> [Element] {
    let elements = Array(self)
    let keys = descriptors.map { SortKeys($0, elements) }
    return try elements.indices.sorted { left, right in
      for key in keys {
        switch try key.order(left, right) {
        case .orderedAscending: return true
        case .orderedDescending: return false
        case .orderedSame: continue
        }
      }
      return left < right
    }.map { elements[$0] }
  }
}

/// The values by which a descriptor sorts elements, each read when it's first compared.
private final class SortKeys<Element> {
  private let descriptor: NSSortDescriptor
  private let elements: [Element]
  private var values: [PredicateValue?] = []
  private let isSubclass: Bool

  init(_ descriptor: NSSortDescriptor, _ elements: [Element]) {
    self.descriptor = descriptor
    self.elements = elements
    isSubclass = descriptor.isSubclass
  }

  func order(_ left: Int, _ right: Int) throws(PredicateEvaluationError) -> ComparisonResult {
    if isSubclass { return descriptor.compare(elements[left], to: elements[right]) }
    if values.isEmpty { values = Array(repeating: nil, count: elements.count) }
    return descriptor.compare(try value(left), try value(right))
  }

  private func value(_ index: Int) throws(PredicateEvaluationError) -> PredicateValue {
    if let value = values[index] { return value }
    let value = try descriptor.computedValue(of: elements[index])
    values[index] = value
    return value
  }
}
