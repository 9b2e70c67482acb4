/// A function of a call stack as Instruments shows it: `Session.fetch(_:_:)`, made of the symbol that
/// Swift's demangler prints in full.
///
/// A symbol that can't be taken apart stays as it is.
struct FunctionName: Equatable {
  /// `closure #1 in Session.perform(_:)`.
  let text: String
  /// The module that the function is in; nil for a function that isn't Swift's.
  let module: String?

  /// What the optimizer puts in front of a function that it made of another.
  private static let specializations = [
    "generic specialization ", "generic not re-abstracted specialization ",
    "generic partial specialization ", "function signature specialization ",
    "inlined generic function ",
  ]
  /// What else may be in front of the function that is meant.
  private static let heads = [
    "merged ", "partial apply forwarder for ", "partial apply for ", "static ", "@objc ",
    "override ", "distributed thunk ", "implicit ", "suspend resume partial function for ",
    "await resume partial function for ", "async function pointer to ",
  ]
  /// Symbols that pass a call on, or copy values, and that no source line has.
  private static let thunks = [
    "reabstraction thunk", "dispatch thunk of ", "outlined ", "curry thunk of ",
    "vtable thunk for ", "type metadata ", "lazy ", "value witness", "method lookup function ",
    "default argument ", "thunk for ",
  ]

  /// The function of a demangled symbol; nil for a thunk.
  init?(_ symbol: String) {
    var rest = FunctionName.withoutHeads(symbol[...])
    guard !FunctionName.thunks.contains(where: rest.hasPrefix) else { return nil }
    if rest.hasPrefix("protocol witness for ") {
      rest = rest.dropFirst("protocol witness for ".count)
      if let end = FunctionName.place(of: " in conformance ", in: rest) { rest = rest[..<end] }
      rest = FunctionName.withoutHeads(rest)
    }
    var inner: [String] = []
    // Closures and local functions: what they are in comes last.
    while let end = FunctionName.place(of: " in ", in: rest) {
      inner.append(FunctionName.local(rest[..<end]))
      rest = FunctionName.withoutHeads(rest[end...].dropFirst(" in ".count))
    }
    if let number = inner.last?.firstIndex(of: "#"), inner.last?.contains("closure") != true {
      // `helper #1 in f`: the number says which of several.
      inner[inner.count - 1] =
        String(inner[inner.count - 1][..<number])
        .trimmingBlanks
    }
    guard let (name, module) = FunctionName.declaration(rest) else {
      guard inner.isEmpty else { return nil }
      (text, self.module) = (symbol, nil)
      return
    }
    text = (inner + [name]).joined(separator: " in ")
    self.module = module
  }

  private static func withoutHeads(_ symbol: Substring) -> Substring {
    var rest = symbol
    while true {
      if rest.first == "(", let end = rest.firstIndex(of: ")"),
        rest[rest.index(after: rest.startIndex)..<end].allSatisfy(\.isNumber),
        rest[rest.index(after: end)...].first == " "
      {
        // `(1) suspend resume partial function for …`
        rest = rest[end...].dropFirst(2)
      } else if let head = heads.first(where: rest.hasPrefix) {
        rest = rest.dropFirst(head.count)
      } else if specializations.contains(where: rest.hasPrefix),
        let end = place(of: " of ", in: rest)
      {
        rest = rest[end...].dropFirst(" of ".count)
      } else {
        return rest
      }
    }
  }

  /// `closure #1`, `helper #2` of a closure or a local function with its type.
  private static func local(_ text: Substring) -> String {
    guard let number = text.firstIndex(of: "#") else { return String(text) }
    let end = text[number...].firstIndex(of: " ") ?? text.endIndex
    return String(text[..<end])
  }

  /// The name of a declaration without module, types and private discriminators, and its module.
  private static func declaration(_ symbol: Substring) -> (String, String)? {
    var rest = symbol
    var module: String?
    if rest.hasPrefix("(extension in "), let end = rest.firstIndex(of: ")") {
      module = String(rest[..<end].dropFirst("(extension in ".count))
      rest = rest[end...].dropFirst()
      if rest.first == ":" { rest = rest.dropFirst() }
    }
    // What follows the name: the type of a property, what a function throws and returns.
    for mark in [" : ", " -> ", " throws", " async"] {
      if let end = place(of: mark, in: rest) { rest = rest[..<end] }
    }
    let parts = components(of: rest)
    guard parts.count > 1, let first = parts.first,
      first.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" })
    else { return nil }
    let name = parts.dropFirst().joined(separator: ".")
    return name.isEmpty ? nil : (name, module ?? first)
  }

  /// The parts between dots, without generic arguments; of the last one the labels alone.
  private static func components(of symbol: Substring) -> [String] {
    var parts: [String] = []
    var part = ""
    var rest = symbol
    while let character = rest.first {
      switch character {
      case ".":
        parts.append(part)
        part = ""
        rest = rest.dropFirst()
      case "<" where !part.isEmpty && !part.hasSuffix(" "):
        rest = rest[closing(of: rest)...].dropFirst()
      case "(":
        let end = closing(of: rest)
        // Nothing is inside of a bracket that is never closed.
        let inside = rest[..<end].dropFirst()
        if let mark = place(of: " in _", in: inside) {
          part += inside[..<mark]
        } else {
          part += "(\(labels(of: inside)))"
        }
        rest = rest[end...].dropFirst()
      default:
        part.append(character)
        rest = rest.dropFirst()
      }
    }
    return parts + [part]
  }

  /// `_:file:line:` of `Foo.Request, file: Swift.String, line: Swift.Int`.
  private static func labels(of parameters: Substring) -> String {
    var labels = ""
    var rest = parameters
    while !rest.isEmpty {
      let end = place(of: ", ", in: rest) ?? rest.endIndex
      let label = place(of: ": ", in: rest[..<end]).map { String(rest[..<$0]) }
      labels += "\(label ?? "_"):"
      rest = rest[end...].dropFirst(2)
    }
    return labels
  }

  /// Where a text occurs outside of all brackets; nil if it doesn't.
  private static func place(of text: String, in symbol: Substring) -> Substring.Index? {
    var depth = 0
    var index = symbol.startIndex
    var last: Character = " "
    while index < symbol.endIndex {
      let character = symbol[index]
      if depth == 0, character == text.first, symbol[index...].hasPrefix(text) { return index }
      switch character {
      case "(", "<", "[": depth += 1
      case ")", "]": depth -= 1
      // Not the end of an arrow.
      case ">" where last != "-": depth -= 1
      default: break
      }
      last = character
      index = symbol.index(after: index)
    }
    return nil
  }

  /// Where the bracket that a text begins with is closed; its last character where it is not.
  private static func closing(of text: Substring) -> Substring.Index {
    var depth = 0
    var last: Character = " "
    for index in text.indices {
      switch text[index] {
      case "(", "<", "[": depth += 1
      case ")", "]": depth -= 1
      case ">" where last != "-": depth -= 1
      default: break
      }
      if depth == 0 { return index }
      last = text[index]
    }
    return text.index(before: text.endIndex)
  }
}

extension String {
  /// Without blanks at its end.
  fileprivate var trimmingBlanks: String {
    var text = self
    while text.last == " " { text.removeLast() }
    return text
  }
}
