internal import Foundation
internal import Synchronization

/// The folded, decomposed forms of Unicode scalars, for some options of a comparison.
///
/// The form of a string consists of those of its scalars, unless marks are reordered or ignored:
/// the form of such a string isn't known here, so Foundation has to create it.
///
/// **Cost:** 32 KB for each page of scalars that's compared, up to 2 MB for the options.
final class FoldedForms: Sendable {
  /// The forms of consecutive scalars, created when one of them is compared, in a millisecond.
  ///
  /// Sendable is unchecked because a pointer isn't Sendable; the forms are constant, and their
  /// memory is never freed.
  private final class Page: @unchecked Sendable {
    static let size: UInt32 = 0x800

    /// The UTF-8 of each form, from the lowest byte on; the highest byte is the kind.
    let forms = Atomic<UnsafePointer<UInt128>?>(nil)
  }

  /// What a form is, as it determines what may follow.
  private enum Kind {
    static let free: UInt8 = 0
    /// A mark that follows could be ordered before one of the form.
    static let endsWithMark: UInt8 = 1
    static let mark: UInt8 = 2
    /// The form depends on the scalars around it.
    static let unknown: UInt8 = 3
  }

  private let options: String.CompareOptions
  private let ignoresCase: Bool
  private let pages = (0..<0x20000 / Page.size).map { _ in Page() }

  private static let all = (0..<8).map { number in
    var options: String.CompareOptions = []
    if number & 1 != 0 { options.insert(.caseInsensitive) }
    if number & 2 != 0 { options.insert(.diacriticInsensitive) }
    if number & 4 != 0 { options.insert(.widthInsensitive) }
    return FoldedForms(options)
  }

  /// Returns the forms for the options `[c]`, `[d]`, and `[w]`; others have no effect.
  static subscript(options: NSComparisonPredicate.Options) -> FoldedForms {
    let bits = options.rawValue
    let width = NSComparisonPredicate.Options.widthInsensitive.rawValue
    return all[Int(bits & 3) + (bits & width == 0 ? 0 : 4)]
  }

  private init(_ options: String.CompareOptions) {
    self.options = options
    ignoresCase = options.contains(.caseInsensitive)
  }

  /// Returns the folded, decomposed form of any string.
  func folded(_ text: String, _ locale: Locale?) -> String {
    text.folding(options: options, locale: locale).decomposedStringWithCanonicalMapping
  }

  /// Returns the form of a string, or `nil` if it isn't known.
  func form(of text: String) -> String? {
    var text = text
    return text.withUTF8 { text in
      // A form has up to three times the bytes of its scalar.
      withUnsafeTemporaryAllocation(of: UInt8.self, capacity: text.count * 3) { form in
        var position = Position(UnsafeRawBufferPointer(text), 0)
        var count = 0
        while true {
          let byte = next(&position)
          if byte == Self.end {
            return String(decoding: UnsafeBufferPointer(rebasing: form[..<count]), as: UTF8.self)
          }
          guard byte != Self.unknown, count < form.count else { return nil }
          form[count] = UInt8(truncatingIfNeeded: byte)
          count += 1
        }
      }
    }
  }

  /// Returns the order of the forms of two strings in UTF-8, or `nil` if one isn't known.
  func order(
    _ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer
  ) -> ComparisonResult? {
    // A form doesn't depend on what precedes the last ASCII character that both have.
    var start = 0
    var index = 0
    let count = min(left.count, right.count)
    while index < count {
      let (one, other) = (left[index], right[index])
      if one != other {
        if one | other >= 0x80 { break }
        let (first, second) = (lowercase(one), lowercase(other))
        if first != second { return first < second ? .orderedAscending : .orderedDescending }
      }
      if one < 0x80 { start = index }
      index += 1
    }
    if index == count, left.count == right.count { return .orderedSame }
    var (first, second) = (Position(left, index), Position(right, index))
    while first.index > start, first.isInsideScalar || second.isInsideScalar {
      first.index -= 1
      second.index -= 1
    }
    if startsWithMark(first) || startsWithMark(second) {
      (first, second) = (Position(left, start), Position(right, start))
    }
    while true {
      let (one, other) = (next(&first), next(&second))
      if one == Self.unknown || other == Self.unknown { return nil }
      if one != other { return one < other ? .orderedAscending : .orderedDescending }
      if one == Self.end { return .orderedSame }
    }
  }

  // MARK: Reading forms

  private static let end = -1
  private static let unknown = -2

  @inline(__always)
  private func lowercase(_ byte: UInt8) -> UInt8 {
    ignoresCase && byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
  }

  /// Returns the next byte of a form, `end`, or `unknown`.
  @inline(__always)
  private func next(_ position: inout Position) -> Int {
    if position.form == 0 {
      guard let byte = position.byte else { return Self.end }
      if byte < 0x80 {
        position.index += 1
        return Int(lowercase(byte))
      }
      guard let scalar = position.scalar, let form = form(of: scalar) else { return Self.unknown }
      position.index += scalar < 0x800 ? 2 : scalar < 0x10000 ? 3 : 4
      let kind = UInt8(form >> 120)
      if kind != Kind.free {
        guard kind != Kind.unknown, !startsWithMark(position) else { return Self.unknown }
      }
      position.form = (form << 8) >> 8
    }
    let byte = UInt8(truncatingIfNeeded: position.form)
    position.form >>= 8
    return Int(byte)
  }

  /// Returns whether a mark or an unknown form is next.
  private func startsWithMark(_ position: Position) -> Bool {
    guard let byte = position.byte, byte >= 0x80 else { return false }
    guard let scalar = position.scalar, let form = form(of: scalar) else { return true }
    return UInt8(form >> 120) >= Kind.mark
  }

  /// Returns the form of a scalar with its kind, or `nil` for the rarest scalars.
  @inline(__always)
  private func form(of scalar: UInt32) -> UInt128? {
    let index = Int(scalar / Page.size)
    guard index < pages.count else { return nil }
    let forms = pages[index].forms.load(ordering: .acquiring) ?? makeForms(index)
    return forms[Int(scalar % Page.size)]
  }

  /// A position in the form of a string in UTF-8.
  private struct Position {
    let text: UnsafeRawBufferPointer
    /// The index of the next scalar.
    var index: Int
    /// The rest of the form of the scalar before it.
    var form: UInt128 = 0

    init(_ text: UnsafeRawBufferPointer, _ index: Int) {
      self.text = text
      self.index = index
    }

    /// The byte at the index, or `nil` at the end.
    @inline(__always) var byte: UInt8? { index < text.count ? text[index] : nil }

    /// Whether the byte at the index isn't the first of a scalar.
    var isInsideScalar: Bool { index < text.count && text[index] & 0xC0 == 0x80 }

    /// The scalar at the index, which isn't ASCII, or `nil` if it's invalid.
    @inline(__always) var scalar: UInt32? {
      let first = UInt32(text[index])
      guard let second = bits(1) else { return nil }
      if first < 0xE0 { return first < 0xC2 ? nil : (first & 0x1F) << 6 | second }
      guard let third = bits(2) else { return nil }
      if first < 0xF0 {
        let scalar = (first & 0x0F) << 12 | second << 6 | third
        return scalar < 0x800 || scalar >> 11 == 0x1B ? nil : scalar
      }
      guard let fourth = bits(3) else { return nil }
      let scalar = (first & 0x0F) << 18 | second << 12 | third << 6 | fourth
      return scalar < 0x10000 || scalar > 0x10FFFF ? nil : scalar
    }

    /// Returns the bits of a byte that continues the scalar, or `nil` if it doesn't.
    @inline(__always)
    private func bits(_ offset: Int) -> UInt32? {
      guard index + offset < text.count, text[index + offset] & 0xC0 == 0x80 else { return nil }
      return UInt32(text[index + offset] & 0x3F)
    }
  }

  // MARK: Creating forms

  private func makeForms(_ index: Int) -> UnsafePointer<UInt128> {
    let first = UInt32(index) * Page.size
    let scalars = (first..<first + Page.size).map { Unicode.Scalar($0) ?? " " }
    // One call for all of them: a call for each would take ten times as long.
    let text = scalars.map { $0 == "\n" ? " " : String($0) }.joined(separator: "\n")
    let forms = folded(text, nil).utf8
      .split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    let made = UnsafeMutablePointer<UInt128>.allocate(capacity: scalars.count)
    for (offset, scalar) in scalars.enumerated() {
      (made + offset).initialize(to: packed(String(Substring(forms[offset])), of: scalar))
    }
    let (_, other) = pages[index].forms.compareExchange(
      expected: nil, desired: UnsafePointer(made), ordering: .acquiringAndReleasing)
    guard let other else { return UnsafePointer(made) }
    made.deallocate()
    return other
  }

  private func packed(_ form: String, of scalar: Unicode.Scalar) -> UInt128 {
    let bytes = form.utf8
    guard bytes.count < 16 else { return UInt128(Kind.unknown) << 120 }
    return UInt128(kind(of: scalar, form)) << 120
      | bytes.reversed().reduce(0) { $0 << 8 | UInt128($1) }
  }

  private func kind(of scalar: Unicode.Scalar, _ form: String) -> UInt8 {
    func isMark(_ scalar: Unicode.Scalar) -> Bool {
      scalar.properties.canonicalCombiningClass != .notReordered
    }
    if options.contains(.diacriticInsensitive) {
      switch scalar.properties.generalCategory {
      case .nonspacingMark, .spacingMark, .enclosingMark: return Kind.unknown
      default: break
      }
    }
    let scalars = form.unicodeScalars
    guard let first = scalars.first else { return Kind.unknown }
    if isMark(scalar) { return scalars.elementsEqual([scalar]) ? Kind.mark : Kind.unknown }
    if isMark(first) { return Kind.unknown }
    return scalars.contains(where: isMark) ? Kind.endsWithMark : Kind.free
  }
}
