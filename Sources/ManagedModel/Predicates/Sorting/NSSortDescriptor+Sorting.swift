internal import Foundation

extension NSSortDescriptor.Comparison {
  /// The order of two values; the named ways differ for strings only.
  package func compare(_ left: PredicateValue, _ right: PredicateValue) -> ComparisonResult {
    guard self != .binary, let left = left.string, let right = right.string else {
      return PredicateValue.order(left, right)
    }
    return switch self {
    case .binary: PredicateValue.order(.string(left), .string(right))
    case .caseInsensitiveCompare: StringMatching.compare(left, right, [.caseInsensitive])
    case .localizedCompare: left.localizedCompare(right)
    case .localizedCaseInsensitiveCompare: left.localizedCaseInsensitiveCompare(right)
    case .localizedStandardCompare: left.localizedStandardCompare(right)
    }
  }
}

extension Sequence {
  /// The elements in the order of the descriptors, the first of which counts most; equal elements
  /// keep their order.
  ///
  /// Apple has this on `NSArray`. Cost: reads each key path once per element.
  public func sorted(using descriptors: [NSSortDescriptor]) -> [Element] {
    let keyed = enumerated().map { offset, element in (offset: offset, element: element) }
    return keyed.sorted { left, right in
      for descriptor in descriptors {
        switch descriptor.compare(left.element, to: right.element) {
        case .orderedAscending: return true
        case .orderedDescending: return false
        case .orderedSame: continue
        }
      }
      return left.offset < right.offset
    }.map(\.element)
  }
}
