public import Foundation

/// Combines predicates with AND, OR, or NOT.
///
/// Counterpart: `NSCompoundPredicate`.
open class NSCompoundPredicate: NSPredicate, @unchecked Sendable {
  /// The types of compound predicates, with Foundation's raw values.
  public enum LogicalType: UInt, Sendable {
    case not = 0
    case and
    case or
  }

  /// The type of the compound predicate.
  public let compoundPredicateType: LogicalType
  /// The subpredicates: one for NOT, any number for AND (true if empty) and OR (false if empty).
  ///
  /// They change only while a deep tree is deallocated.
  @exclusivity(unchecked) public private(set) var predicates: [NSPredicate]

  /// The subpredicates again, for evaluation, which counts no references.
  private let parts: UnsafeMutableBufferPointer<Unmanaged<NSPredicate>>

  /// The subpredicates, as Foundation's untyped array.
  public var subpredicates: [Any] {
    predicates
  }

  /// Creates a compound predicate.
  ///
  /// Traps for a NOT of other than one predicate.
  public init(type: LogicalType, subpredicates: [NSPredicate]) {
    guard type != .not || subpredicates.count == 1 else {
      fatalError("NOT takes one predicate; it has \(subpredicates.count)")
    }
    compoundPredicateType = type
    predicates = subpredicates
    parts = Self.uncounted(subpredicates)
    super.init(kind: .compound, depth: 1 + (subpredicates.lazy.map(\.depth).max() ?? 0))
  }

  /// Decodes a compound predicate, or returns `nil` if a part is missing.
  public required init?(coder: NSCoder) {
    typealias Key = PredicateArchiveKey
    guard
      let type = UInt(exactly: coder.archivedInteger(Key.compoundType))
        .flatMap(LogicalType.init),
      let parts = coder.descending({ coder.archivedPredicates(Key.subpredicates) }),
      type != .not || parts.count == 1
    else { return nil }
    compoundPredicateType = type
    predicates = parts
    self.parts = Self.uncounted(parts)
    super.init(decoded: .compound, depth: 1 + (parts.lazy.map(\.depth).max() ?? 0))
  }

  /// Releases a deep tree level by level, because recursion would overflow the stack.
  deinit {
    parts.deallocate()
    guard depth > ModelLimits.predicateTreeDepth else { return }
    var waiting = predicates
    predicates = []
    while !waiting.isEmpty {
      var last = waiting.removeLast()
      guard isKnownUniquelyReferenced(&last), let compound = last as? NSCompoundPredicate else {
        continue
      }
      waiting += compound.predicates
      compound.predicates = []
    }
  }

  private static func uncounted(
    _ predicates: [NSPredicate]
  ) -> UnsafeMutableBufferPointer<Unmanaged<NSPredicate>> {
    let parts = UnsafeMutableBufferPointer<Unmanaged<NSPredicate>>.allocate(
      capacity: predicates.count)
    _ = parts.initialize(from: predicates.lazy.map(Unmanaged.passUnretained))
    return parts
  }

  override func isTrue(
    for record: (any PredicateRecord)?, _ evaluator: inout PredicateEvaluator
  ) throws(PredicateEvaluationError) -> Bool {
    for part in parts {
      let isTrue = try part.withInstance { part throws(PredicateEvaluationError) in
        try part.isTrue(for: record, &evaluator)
      }
      switch compoundPredicateType {
      case .not: return !isTrue
      case .and: if !isTrue { return false }
      case .or: if isTrue { return true }
      }
    }
    return compoundPredicateType != .or
  }

  open override func encode(with coder: NSCoder) {
    coder.encode(
      Int(compoundPredicateType.rawValue), forKey: PredicateArchiveKey.compoundType)
    coder.encodeParts(predicates, forKey: PredicateArchiveKey.subpredicates)
  }

  /// Creates a predicate that is true if all subpredicates are true, or if there are none.
  public convenience init(andPredicateWithSubpredicates subpredicates: [NSPredicate]) {
    self.init(type: .and, subpredicates: subpredicates)
  }

  /// Creates a predicate that is true if at least one subpredicate is true.
  public convenience init(orPredicateWithSubpredicates subpredicates: [NSPredicate]) {
    self.init(type: .or, subpredicates: subpredicates)
  }

  /// Creates a predicate that is true if the subpredicate is false.
  public convenience init(notPredicateWithSubpredicate predicate: NSPredicate) {
    self.init(type: .not, subpredicates: [predicate])
  }
}

extension Unmanaged {
  /// Calls a closure with the instance without counting a reference to it.
  ///
  /// Code that calls it makes sure that the instance stays alive.
  @inline(__always)
  fileprivate func withInstance<Value, Failure: Error>(
    _ body: (Instance) throws(Failure) -> Value
  ) throws(Failure) -> Value {
    do {
      return try _withUnsafeGuaranteedRef { try body($0) }
    } catch let error as Failure {
      throw error
    } catch {
      fatalError("\(error) isn't a \(Failure.self)")
    }
  }
}
