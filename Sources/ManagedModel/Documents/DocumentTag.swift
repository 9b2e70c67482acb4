/// One element of a document that is written: its attributes in their order and what is inside.
struct DocumentTag {
  private let name: String
  private var attributes: [(key: String, value: String)] = []
  private var children: [DocumentTag] = []

  /// Makes an element without attributes.
  init(_ name: String) {
    self.name = name
  }

  /// Adds an attribute; nothing for nil.
  mutating func set(_ key: String, _ value: String?) {
    if let value { attributes.append((key, value)) }
  }

  /// Adds an attribute that says YES, or nothing.
  mutating func set(_ key: String, if flag: Bool) {
    if flag { attributes.append((key, "YES")) }
  }

  /// Adds an attribute with a yes or no where it is not the usual one.
  mutating func set(_ key: String, _ flag: Bool, unless usual: Bool) {
    if flag != usual { attributes.append((key, flag ? "YES" : "NO")) }
  }

  /// Adds an attribute with a number, unless it is 0.
  mutating func set(_ key: String, count: Int) {
    if count != 0 { attributes.append((key, "\(count)")) }
  }

  /// Adds what could not be read, where nothing else is said.
  mutating func set(unread texts: [String: String]) {
    for (key, value) in texts.sorted(by: { $0.key < $1.key })
    where !attributes.contains(where: { $0.key == key }) {
      attributes.append((key, value))
    }
  }

  /// Adds an element inside.
  mutating func add(_ child: DocumentTag) {
    children.append(child)
  }

  /// Adds elements inside an element of their own; nothing for none.
  mutating func add(_ members: [DocumentTag], in list: String) {
    guard !members.isEmpty else { return }
    var group = DocumentTag(list)
    group.children = members
    children.append(group)
  }

  /// Writes the element and what is inside, four blanks deeper for each level.
  func write(to text: inout String, indentation: String = "") {
    text += "\(indentation)<\(name)"
    for (key, value) in attributes { text += " \(key)=\"\(DocumentCharacters.escaped(value))\"" }
    guard !children.isEmpty else { return text += "/>\n" }
    text += ">\n"
    for child in children { child.write(to: &text, indentation: indentation + "    ") }
    text += "\(indentation)</\(name)>\n"
  }
}
