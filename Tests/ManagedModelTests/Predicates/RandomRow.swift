import ManagedModel

/// A row of plain values that predicates can read.
final class RandomRow: KeyValueReadable {
  static let texts = [
    "", "a", "ab", "abc", "Abc", "b*", "\u{C9}", "e", "\u{E9}a", "zz", "Ab c", "?",
  ]

  let name: String?
  let age: Int?
  let size: Double?
  let isOpen: Bool?
  let boss: RandomRow?
  let tags: [String]
  let members: [RandomRow]

  init(_ random: inout some RandomNumberGenerator, depth: Int = 2) {
    name = Self.sometimes(Self.texts.randomElement(using: &random), &random)
    age = Self.sometimes(Int.random(in: -2...5, using: &random), &random)
    size = Self.sometimes(Double(Int.random(in: -4...8, using: &random)) / 2, &random)
    isOpen = Self.sometimes(Bool.random(using: &random), &random)
    tags = (0..<Int.random(in: 0...3, using: &random)).map { _ in
      Self.texts.randomElement(using: &random) ?? ""
    }
    if depth > 0 {
      boss = Self.sometimes(RandomRow(&random, depth: depth - 1), &random)
      var found: [RandomRow] = []
      for _ in 0..<Int.random(in: 0...3, using: &random) {
        found.append(RandomRow(&random, depth: 0))
      }
      members = found
    } else {
      boss = nil
      members = []
    }
  }

  private static func sometimes<T>(_ value: T?, _ random: inout some RandomNumberGenerator) -> T? {
    Int.random(in: 0..<5, using: &random) == 0 ? nil : value
  }

  func value(forKey key: String) -> Any? {
    switch key {
    case "name": name
    case "age": age.map { Int16($0) }
    case "size": size
    case "isOpen": isOpen
    case "boss": boss
    case "tags": tags
    case "members": members
    default: nil
    }
  }
}
