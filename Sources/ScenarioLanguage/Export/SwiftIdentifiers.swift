import ModelCode

/// Hands out names that Swift takes, each once.
struct SwiftIdentifiers {
  private var taken: Set<String>

  /// - Parameter reserved: names that mean something already.
  init(reserved: Set<String> = []) {
    taken = reserved.union(SwiftNames.keywords)
  }

  /// A free name like some words: `my-moods` becomes `myMoods`, the second time `myMoods2`.
  mutating func name(_ words: String...) -> String {
    let whole = SwiftIdentifiers.joined(words)
    var name = whole
    var number = 2
    while !taken.insert(name).inserted {
      name = "\(whole)\(number)"
      number += 1
    }
    return name
  }

  /// The name of a type like a word: `fault-storm` becomes `FaultStorm`.
  static func type(_ word: String) -> String {
    let name = joined([word])
    return name.prefix(1).uppercased() + name.dropFirst()
  }

  /// Words as one in camel case; what no identifier may have parts words.
  private static func joined(_ words: [String]) -> String {
    let parts = words.flatMap { word in
      word.split { !($0.isASCII && ($0.isLetter || $0.isNumber)) }
    }
    let first = parts.first.map { $0.prefix(1).lowercased() + $0.dropFirst() } ?? "value"
    let name = parts.dropFirst().reduce(first) { $0 + $1.prefix(1).uppercased() + $1.dropFirst() }
    return name.first?.isNumber == true ? "n" + name : name
  }
}
