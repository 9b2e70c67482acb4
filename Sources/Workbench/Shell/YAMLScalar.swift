/// Values as they are written in a YAML file: plain where that reads back as the same, quoted where not.
enum YAMLScalar {
  /// A text on one line, also inside of `{…}` and `[…]`.
  static func text(_ text: String) -> String {
    isPlain(text) ? text : quoted(text)
  }

  /// The value of an option.
  static func value(of option: StepOption) -> String {
    switch option {
    case .predicate(let format): text(format)
    case .sort(let keys): list(keys.map(\.description))
    case .prefetch(let keyPaths): list(keyPaths)
    case .assignments(let assignments):
      "{" + assignments.map { "\(text($0.key)): \(text($0.value))" }.joined(separator: ", ") + "}"
    case .context(let name): text(name)
    case .limit, .offset, .batch, .times, .values, .faults, .pending, .subentities, .keep, .result:
      option.valueText
    }
  }

  /// A generator of a scenario's data.
  static func value(of generator: Generator) -> String {
    switch generator {
    case .cycle: "cycle"
    case .random: "random"
    case .every(let seconds): "every \(duration(seconds))"
    case .text(let length): "text \(length)"
    case .oneOf(let words): "{one of: \(list(words.map(\.text)))}"
    }
  }

  private static func list(_ texts: [String]) -> String {
    "[\(texts.map(text).joined(separator: ", "))]"
  }

  /// `1 minute`, `90 seconds`: the largest unit that leaves no rest.
  private static func duration(_ seconds: Int) -> String {
    let units = [(604_800, "week"), (86_400, "day"), (3_600, "hour"), (60, "minute")]
    for (length, name) in units where seconds.isMultiple(of: length) {
      return NumberText.counted(seconds / length, name)
    }
    return NumberText.counted(seconds, "second")
  }

  private static func isPlain(_ text: String) -> Bool {
    guard let first = text.first, let last = text.last, first.isLetter || first.isNumber,
      !last.isWhitespace, !words.contains(text.lowercased())
    else { return false }
    let marks = Set(" _-.()*+/")
    return !text.contains(" #") && text.allSatisfy { character in
      character.isASCII && (character.isLetter || character.isNumber || marks.contains(character))
    }
  }

  /// What YAML takes for something other than a text.
  private static let words: Set<String> = ["yes", "no", "true", "false", "on", "off", "null", "y", "n"]

  private static func quoted(_ text: String) -> String {
    let escaped = text.unicodeScalars.map { scalar in
      switch scalar {
      case "\"": "\\\""
      case "\\": "\\\\"
      case "\n": "\\n"
      case "\r": "\\r"
      case "\t": "\\t"
      case _ where scalar.value < 32 || scalar.value == 127:
        "\\x" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16)
      default: String(scalar)
      }
    }
    return "\"\(escaped.joined())\""
  }
}
