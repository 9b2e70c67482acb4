/// One JSON object on one line, put together key by key: for reports of very many small objects.
package struct JSONFields {
  private(set) var text = "{"

  /// An object without keys.
  package init() {}

  /// The whole object.
  package var object: String { text + "}" }

  /// Adds a text; nothing for nil.
  package mutating func add(_ key: StaticString, _ value: String?) {
    if let value { add(raw: key, JSONText.quoted(value)) }
  }

  /// Adds a number; nothing for nil.
  package mutating func add(_ key: StaticString, _ number: Int?) {
    if let number { add(raw: key, String(number)) }
  }

  /// Adds a number.
  package mutating func add(_ key: StaticString, _ number: UInt64) {
    add(raw: key, String(number))
  }

  /// Adds nanoseconds as microseconds with three places.
  package mutating func add(_ key: StaticString, microseconds nanoseconds: UInt64) {
    let rest = String(nanoseconds % 1_000)
    let places = String(repeating: "0", count: 3 - rest.count) + rest
    add(raw: key, "\(nanoseconds / 1_000).\(places)")
  }

  /// Adds an object.
  package mutating func add(_ key: StaticString, _ object: JSONFields) {
    add(raw: key, object.object)
  }

  private mutating func add(raw key: StaticString, _ value: String) {
    if text.utf8.count > 1 { text += "," }
    text += "\"\(key)\":\(value)"
  }
}
