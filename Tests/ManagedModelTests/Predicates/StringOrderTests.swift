import Testing

@testable import ManagedModel

/// The orders of strings in comparisons with options and in sort descriptors.
struct StringOrderTests {
  private static let comparisons: [(name: String, order: @Sendable (String, String) -> Int)] =
    (1..<32 as Range<UInt>).map { bits in
      let options = NSComparisonPredicate.Options(rawValue: bits)
      return ("options \(bits)", { StringMatching.compare($0, $1, options).rawValue })
    }
    + NSSortDescriptor.Comparison.allCases.map { comparison in
      (comparison.rawValue, { comparison.compare(.string($0), .string($1)).rawValue })
    }

  @Test(arguments: [
    ["Noël", "Nö", "Noel", "Aö", "Äpfel", "Apfel", "aΩ", "åñ ", "åÄ-", "aÉÉ"],
    ["sé_", "ßbb\0", "éßb ", "Äß", "ÄsÉ", "ä", "AΩ", "STRASSE", "straße"],
    ["é", "e\u{301}", "éb\u{301}", "é\u{301}\u{301}", "aéåa", "å", "é1", "É01", "É1", "é01"],
    ["", "\0", "\u{200D}", "\u{200D}\u{200D}", "a", "a\0", "a\u{AD}", "a\u{301}", "\u{301}"],
  ])
  func stringsHaveOneOrder(words: [String]) {
    expectOrder(of: words)
  }

  @Test(arguments: 1...10 as ClosedRange<UInt64>)
  func randomStringsHaveOneOrder(seed: UInt64) {
    let parts = [
      "a", "A", "b", "e", "i", "I", "s", "1", "2", "0", " ", "-", "\0", "\t", "ä", "Ä", "é", "É",
      "å", "ñ", "ß", "ẞ", "İ", "ı", "ﬁ", "ŉ", "Ω", "ς", "Σ", "ά", "ᾳ", "й", "ж", "か", "が", "Ａ",
      "ｶ", "中", "가", "ก", "ह", "ב", "😀", "👨‍👩‍👧", "𐐀", "\u{345}", "\u{301}", "\u{323}", "\u{200D}",
      "\u{FF9E}", "\u{1100}", "\u{1161}", "\u{E48}", "\u{E38}", "\u{93F}", "\u{5BC}",
      "\u{1F1E9}", "\u{20000}", "\u{FFFF}", "\u{212A}",
    ]
    var random = SeededNumbers(seed: seed)
    let words = (0..<20).map { _ in
      (0..<Int.random(in: 0...4, using: &random)).map { _ in
        parts.randomElement(using: &random) ?? ""
      }.joined()
    }
    expectOrder(of: words)
  }

  @Test(arguments: [
    ("sv", ["aé", "az", "z", "å", "ä", "äé", "ö"]),
    ("da", ["aé", "az", "z", "ä", "ø", "aa", "aab"]),
    ("tr", ["hz", "ı", "Ia", "i", "İz", "j"]), ("de", ["ä", "aé", "az", "ß", "sz"]),
  ])
  func languagesHaveOneOrder(identifier: String, sorted: [String]) {
    let locale = Locale(identifier: identifier)
    @Sendable func order(_ left: String, _ right: String) -> Int {
      StringOrder.compare(left, right, [.caseInsensitive], in: locale).rawValue
    }
    #expect(sorted.reversed().sorted { order($0, $1) < 0 } == sorted)
    expectOrder(of: sorted, [(identifier, order)])
    expectOrder(
      of: sorted,
      [
        (identifier, { @Sendable in StringOrder.compare($0, $1, [], in: locale).rawValue }),
        (identifier, { @Sendable in StringOrder.standard($0, $1, in: locale).rawValue }),
      ])
  }

  /// Each comparison must be antisymmetric and transitive, also for equal strings.
  private func expectOrder(
    of words: [String],
    _ comparisons: [(name: String, order: @Sendable (String, String) -> Int)] = Self.comparisons
  ) {
    for (name, order) in comparisons {
      let found = words.map { left in words.map { order(left, $0) } }
      for first in words.indices {
        for second in words.indices {
          if found[first][second] != -found[second][first] {
            let two = [first, second].map { words[$0].debugDescription }
            Issue.record("\(name): \(two)")
          }
          if found[first][second] > 0 { continue }
          for third in words.indices where found[second][third] <= 0 {
            if found[first][third] != min(found[first][second], found[second][third]) {
              let three = [first, second, third].map { words[$0].debugDescription }
              Issue.record("\(name): \(three)")
            }
          }
        }
      }
    }
  }

  @Test(
    arguments: [
      ("STRASSE", "straße", 1), ("ẞ", "ß", 1), ("É", "e\u{301}", 1), ("ﬁ", "FI", 1), ("ς", "Σ", 1),
      ("k", "\u{212A}", 1), ("İ", "i\u{307}", 1), ("가", "\u{1100}\u{1161}", 1),
      ("が", "か\u{3099}", 1), ("o\u{308}\u{323}", "O\u{323}\u{308}", 1), ("𐐀", "𐐨", 1),
      ("Élan", "elan", 3),
      ("E\u{301}lan", "elan", 3), ("Ａ", "A", 16), ("ｶﾞ", "ガ", 16), ("É", "é", 9),
    ] as [(String, String, UInt)])
  func stringsThatDifferOnlyInWhatIsIgnoredAreEqual(left: String, right: String, bits: UInt) {
    let options = NSComparisonPredicate.Options(rawValue: bits)
    #expect(StringMatching.isEqual(left, right, options))
    #expect(StringMatching.isEqual(right, left, options))
    #expect(StringMatching.compare("\(left)a", "\(right)b", options) == .orderedAscending)
    #expect(StringMatching.compare("\(left)b", "\(right)a", options) == .orderedDescending)
  }

  @Test(
    arguments: [
      ("I", "ı", 1), ("İ", "i", 1), ("e", "é", 1), ("a\0b", "a", 1), ("a", "a\0", 1), ("a", "A", 2),
      ("ø", "o", 3), ("a", "b", 27), ("😀", "😁", 3),
    ] as [(String, String, UInt)])
  func otherStringsAreNotEqual(left: String, right: String, bits: UInt) {
    let options = NSComparisonPredicate.Options(rawValue: bits)
    #expect(!StringMatching.isEqual(left, right, options))
    #expect(!StringMatching.isEqual(right, left, options))
  }

  @Test(arguments: [
    (
      NSSortDescriptor.Comparison.caseInsensitiveCompare,
      ["Aö", "Äpfel", "cote", "Coté", "côte", "Côté", "Noël", "Nö", "Zoe", "zoé", "Zoë"]
    ),
    (.localizedCompare, ["aö", "äpfel", "Äpfel", "cote", "coté", "côte", "zoe", "Zoe"]),
    (.localizedCaseInsensitiveCompare, ["aö", "Äpfel", "cote", "Coté", "côte", "zoe", "Zoë"]),
    (.localizedStandardCompare, ["a1", "a01", "A1", "é2", "É10", "f1", "Nö 2", "Noël 1"]),
  ])
  func lettersWithAccentsComeAfterThoseWithout(
    comparison: NSSortDescriptor.Comparison, sorted: [String]
  ) {
    let descriptor = NSSortDescriptor(key: nil, ascending: true, selector: comparison)
    #expect(Array(sorted.reversed()).sorted(using: [descriptor]) == sorted)
  }
}
