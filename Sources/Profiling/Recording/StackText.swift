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
  /// Thunks and the C library's functions below `main` that have no symbol are omitted. Cost: looks
  /// up symbols.
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
    let place = CallStack.image(of: address - 1)
    let file = place?.file.split(separator: "/").last.map(String.init) ?? "unknown file"
    return "(no symbol) \(file) + 0x\(String(place?.offset ?? address, radix: 16))"
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
  /// The array is empty if no stacks were recorded. Cost: looks up symbols, so don't call this
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
  /// A Boolean value that indicates whether the stack of an event adds information to that of its
  /// parent event.
  fileprivate var hasStack: Bool {
    switch self {
    case .fetch, .save, .objectFault, .relationshipFault, .batchRequest, .batchLoad, .merge: true
    case .rowCacheHit, .rowCacheMiss, .prefetch, .statement, .transaction, .notification,
      .migration, .migrationStep, .storeOpening:
      false
    }
  }
}
