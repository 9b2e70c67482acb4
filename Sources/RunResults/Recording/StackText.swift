package import ProfileEvents

/// The text format of call stacks.
package enum StackText {
  /// The modules between a caller and an event: the framework, the profiler, and Swift's libraries.
  private static let inside: Set<String> = [
    "OpenCoreData", "ManagedModel", "SQLiteDriver", "ProfileEvents", "Swift", "Foundation",
    "FoundationEssentials", "Dispatch", "Synchronization",
  ]

  /// Returns the functions of a stack, innermost first, starting with the caller of the framework.
  ///
  /// Thunks and the C library's functions below `main` that have no symbol are omitted. **Cost:**
  /// looks up symbols.
  package static func frames(_ stack: [UInt]) -> [String] {
    frames(
      stack.map { address in
        // A return address can be after its function's last instruction.
        CallStack.symbol(at: address - 1)?.function ?? unnamed(address)
      })
  }

  /// Returns whether a frame is the text for a function without a symbol.
  package static func isUnnamed(_ frame: String) -> Bool { frame.hasPrefix("(no symbol) ") }

  private static func unnamed(_ address: UInt) -> String {
    let image = CallStack.image(of: address - 1)
    let file = image?.file.split(separator: "/").last.map(String.init) ?? "unknown file"
    return "(no symbol) \(file) + 0x\(String(image?.offset ?? address, radix: 16))"
  }

  /// Returns the functions of demangled symbols, filtered in the same way.
  static func frames(_ symbols: [String]) -> [String] {
    let functions = symbols.compactMap { symbol -> (text: String, module: String?)? in
      if isUnnamed(symbol) { return (symbol, nil) }
      return FunctionName(symbol).map { ($0.text, $0.module) }
    }
    let callers = functions.drop { function in
      isUnnamed(function.text) || function.module.map(inside.contains) ?? true
    }
    var texts: [String] = []
    for function in callers.isEmpty ? functions[...] : callers
    // A forwarder has the same name as its target.
    where texts.last != function.text {
      texts.append(function.text)
    }
    // Only the C library's functions are below `main`.
    while texts.count > 1, let last = texts.last, isUnnamed(last), last.contains(" libc") {
      texts.removeLast()
    }
    return texts
  }
}

/// A call stack that caused events, and the number of events.
package struct StackShape: Sendable, Equatable, Codable {
  /// The kind of the events, such as fetches, saves, faults, or batch requests.
  package var kind: EventKind
  /// The entity or the relationship: `Mood`, `Country.moods`.
  package var subject: String
  package var count: Int
  /// The functions, innermost first; an address if a function's name isn't known.
  package var frames: [String]

  package init(kind: EventKind, subject: String, count: Int, frames: [String]) {
    self.kind = kind
    self.subject = subject
    self.count = count
    self.frames = frames
  }
}

extension Recording {
  /// Returns the distinct call stacks of fetches, saves, merges, faults, and batch requests, most
  /// frequent first.
  ///
  /// The array is empty if no stacks were recorded. **Cost:** looks up symbols, so don't call this
  /// method while the measured work runs.
  ///
  /// - Parameter limit: The maximum number of stacks.
  package func stackShapes(limit: Int = 20) -> [StackShape] {
    struct Key: Hashable {
      var kind: EventKind
      var subject: String
      var stack: [UInt]
    }
    var order: [Key] = []
    var counts: [Key: Int] = [:]
    for event in events where !event.stack.isEmpty && event.kind.hasStack {
      let key = Key(kind: event.kind, subject: event.subject, stack: event.stack)
      if counts[key] == nil { order.append(key) }
      counts[key, default: 0] += 1
    }
    let most = order.enumerated().sorted { first, second in
      let (one, other) = (counts[first.element] ?? 0, counts[second.element] ?? 0)
      return one == other ? first.offset < second.offset : one > other
    }
    return most.prefix(limit).map { _, key in
      StackShape(
        kind: key.kind, subject: key.subject, count: counts[key] ?? 0,
        frames: StackText.frames(key.stack))
    }
  }
}

extension EventKind {
  /// Whether the stack of an event adds information to that of its parent event.
  fileprivate var hasStack: Bool {
    switch self {
    case .fetch, .save, .objectFault, .relationshipFault, .batchRequest, .batchLoad, .merge: true
    case .rowCacheHit, .rowCacheMiss, .prefetch, .statement, .transaction, .notification,
      .migration, .migrationStep, .storeOpening, .roundTrip, .failure:
      false
    }
  }
}

/// The short name of a function in a call stack, as in Instruments: `Session.fetch(_:_:)`.
///
/// It's derived from the full symbol that Swift's demangler prints. A symbol that can't be parsed
/// is used unchanged.
struct FunctionName: Equatable {
  /// The name, for example `closure #1 in Session.perform(_:)`.
  let text: String
  /// The function's module, or `nil` if it isn't a Swift function.
  let module: String?

  /// The prefixes of functions that the optimizer derived from others.
  private static let specializations = [
    "generic specialization ", "generic not re-abstracted specialization ",
    "generic partial specialization ", "function signature specialization ",
    "inlined generic function ",
  ]
  /// Other prefixes that can precede a function.
  private static let prefixes = [
    "merged ", "partial apply forwarder for ", "partial apply for ", "static ", "@objc ",
    "override ", "distributed thunk ", "implicit ", "suspend resume partial function for ",
    "await resume partial function for ", "async function pointer to ",
  ]
  /// The prefixes of symbols without source code, which forward a call or copy values.
  private static let thunks = [
    "reabstraction thunk", "dispatch thunk of ", "outlined ", "curry thunk of ",
    "vtable thunk for ", "type metadata ", "lazy ", "value witness", "method lookup function ",
    "default argument ", "thunk for ",
  ]

  /// Parses a demangled symbol, or returns `nil` for a thunk.
  init?(_ symbol: String) {
    var rest = FunctionName.withoutPrefixes(symbol[...])
    guard !FunctionName.thunks.contains(where: rest.hasPrefix) else { return nil }
    if rest.hasPrefix("protocol witness for ") {
      rest = rest.dropFirst("protocol witness for ".count)
      if let end = FunctionName.position(of: " in conformance ", in: rest) { rest = rest[..<end] }
      rest = FunctionName.withoutPrefixes(rest)
    }
    var inner: [String] = []
    // Closures and local functions: the enclosing function comes last.
    while let end = FunctionName.position(of: " in ", in: rest) {
      inner.append(FunctionName.local(rest[..<end]))
      rest = FunctionName.withoutPrefixes(rest[end...].dropFirst(" in ".count))
    }
    if let number = inner.last?.firstIndex(of: "#"), inner.last?.contains("closure") != true {
      // `helper #1 in f`: the number distinguishes local functions with the same name.
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

  private static func withoutPrefixes(_ symbol: Substring) -> Substring {
    var rest = symbol
    while true {
      if rest.first == "(", let end = rest.firstIndex(of: ")"),
        rest[rest.index(after: rest.startIndex)..<end].allSatisfy(\.isNumber),
        rest[rest.index(after: end)...].first == " "
      {
        // `(1) suspend resume partial function for …`
        rest = rest[end...].dropFirst(2)
      } else if let prefix = prefixes.first(where: rest.hasPrefix) {
        rest = rest.dropFirst(prefix.count)
      } else if specializations.contains(where: rest.hasPrefix),
        let end = position(of: " of ", in: rest)
      {
        rest = rest[end...].dropFirst(" of ".count)
      } else {
        return rest
      }
    }
  }

  /// Returns a closure or a local function without its type: `closure #1`, `helper #2`.
  private static func local(_ text: Substring) -> String {
    guard let number = text.firstIndex(of: "#") else { return String(text) }
    let end = text[number...].firstIndex(of: " ") ?? text.endIndex
    return String(text[..<end])
  }

  /// Returns the name of a declaration without its module, types, and private discriminators, and
  /// the module.
  private static func declaration(_ symbol: Substring) -> (String, String)? {
    var rest = symbol
    var module: String?
    if rest.hasPrefix("(extension in "), let end = rest.firstIndex(of: ")") {
      module = String(rest[..<end].dropFirst("(extension in ".count))
      rest = rest[end...].dropFirst()
      if rest.first == ":" { rest = rest.dropFirst() }
    }
    // After the name: the type of a property, or the effects and the result of a function.
    for mark in [" : ", " -> ", " throws", " async"] {
      if let end = position(of: mark, in: rest) { rest = rest[..<end] }
    }
    let parts = components(of: rest)
    guard parts.count > 1, let first = parts.first,
      first.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" })
    else { return nil }
    let name = parts.dropFirst().joined(separator: ".")
    return name.isEmpty ? nil : (name, module ?? first)
  }

  /// Returns the parts between dots, without generic arguments, and with parameter lists reduced to
  /// their labels.
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
        // A parenthesis that's never closed has no contents.
        let inside = rest[..<end].dropFirst()
        if let mark = position(of: " in _", in: inside) {
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

  /// Returns the labels of a parameter list: `_:file:line:` for
  /// `Foo.Request, file: Swift.String, line: Swift.Int`.
  private static func labels(of parameters: Substring) -> String {
    var labels = ""
    var rest = parameters
    while !rest.isEmpty {
      let end = position(of: ", ", in: rest) ?? rest.endIndex
      let label = position(of: ": ", in: rest[..<end]).map { String(rest[..<$0]) }
      labels += "\(label ?? "_"):"
      rest = rest[end...].dropFirst(2)
    }
    return labels
  }

  /// Returns the first position of a string outside all brackets, or `nil` if it doesn't occur.
  private static func position(of text: String, in symbol: Substring) -> Substring.Index? {
    var depth = 0
    var index = symbol.startIndex
    var last: Character = " "
    while index < symbol.endIndex {
      let character = symbol[index]
      if depth == 0, character == text.first, symbol[index...].hasPrefix(text) { return index }
      switch character {
      case "(", "<", "[": depth += 1
      case ")", "]": depth -= 1
      // The `>` of an arrow isn't a bracket.
      case ">" where last != "-": depth -= 1
      default: break
      }
      last = character
      index = symbol.index(after: index)
    }
    return nil
  }

  /// Returns the position of the bracket that closes the first one, or of the last character if
  /// it's never closed.
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
  /// The string without trailing spaces.
  fileprivate var trimmingBlanks: String {
    var text = self
    while text.last == " " { text.removeLast() }
    return text
  }
}
