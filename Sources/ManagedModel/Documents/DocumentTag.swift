/// An element to write, with its attributes, in order, and its content.
struct DocumentTag {
  private let name: String
  private var attributes: [(key: String, value: String)] = []
  private var children: [DocumentTag] = []

  /// Creates an element without attributes.
  init(_ name: String) {
    self.name = name
  }

  /// Adds an attribute, unless its value is `nil`.
  mutating func set(_ key: String, _ value: String?) {
    if let value { attributes.append((key, value)) }
  }

  /// Adds an attribute with the value `YES` if a condition is true.
  mutating func set(_ key: String, if flag: Bool) {
    if flag { attributes.append((key, "YES")) }
  }

  /// Adds a Boolean attribute, `YES` or `NO`, unless it has the default value.
  mutating func set(_ key: String, _ flag: Bool, unless usual: Bool) {
    if flag != usual { attributes.append((key, flag ? "YES" : "NO")) }
  }

  /// Adds an attribute with a number, unless it's 0.
  mutating func set(_ key: String, count: Int) {
    if count != 0 { attributes.append((key, "\(count)")) }
  }

  /// Adds attributes that couldn't be read, unless they've been set.
  mutating func set(unread texts: [String: String]) {
    for (key, value) in texts.sorted(by: { $0.key < $1.key })
    where !attributes.contains(where: { $0.key == key }) {
      attributes.append((key, value))
    }
  }

  /// Adds a child element.
  mutating func add(_ child: DocumentTag) {
    children.append(child)
  }

  /// Adds elements inside a new child element, unless there are none.
  mutating func add(_ members: [DocumentTag], in list: String) {
    guard !members.isEmpty else { return }
    var group = DocumentTag(list)
    group.children = members
    children.append(group)
  }

  /// The attributes of the element and its children whose values XML can't represent.
  var unrepresentable: [(element: String, key: String)] {
    let title = attributes.first { $0.key == "name" }.map { "\(name) \($0.value)" } ?? name
    let own = attributes.filter { !DocumentCharacters.canHold($0.value) }
    return own.map { (element: title, key: $0.key) } + children.flatMap(\.unrepresentable)
  }

  /// Writes the element and its content, indented by four spaces per level.
  func write(to text: inout String, indentation: String = "") {
    text += "\(indentation)<\(name)"
    for (key, value) in attributes { text += " \(key)=\"\(DocumentCharacters.escaped(value))\"" }
    guard !children.isEmpty else { return text += "/>\n" }
    text += ">\n"
    for child in children { child.write(to: &text, indentation: indentation + "    ") }
    text += "\(indentation)</\(name)>\n"
  }
}

/// Converts strings to characters of an XML document.
package enum DocumentCharacters {
  /// Returns whether XML can represent every character of a string.
  ///
  /// It can't represent control characters other than tabs and line endings, U+FFFE, and U+FFFF.
  package static func canHold(_ text: String) -> Bool {
    text.unicodeScalars.allSatisfy { scalar in
      scalar.value >= 0x20 && scalar.value != 0xFFFE && scalar.value != 0xFFFF
        || ["\t", "\n", "\r"].contains(scalar)
    }
  }

  /// Returns a string escaped for attribute values and text.
  ///
  /// Characters that XML can't represent are removed, and those that a terminal interprets become
  /// character references.
  package static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case "\t", "\n", "\r": result += "&#\(scalar.value);"
      case _ where !canHold(String(scalar)): break
      case _ where PrintableText.isUnsafe(scalar): result += "&#\(scalar.value);"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
