package import ProfileEvents

/// Call stacks as a person reads them.
package enum StackText {
  /// The modules between a caller and an event: the framework, the profiler, Swift's own.
  private static let inside: Set<String> = [
    "OpenCoreData", "ManagedModel", "SQLiteDriver", "ProfileEvents", "Swift", "Foundation",
    "FoundationEssentials", "Dispatch", "Synchronization",
  ]

  /// The functions of a stack, innermost first, from the one that called the framework on.
  ///
  /// Thunks are left out, and so are addresses without a symbol outside of the program, such as those
  /// of the C library below `main`. Reads symbols.
  package static func frames(_ stack: [UInt]) -> [String] {
    frames(
      stack.map { address in
        // A return address may lie behind its function's last instruction.
        CallStack.symbol(at: address - 1)?.function ?? unnamed(address)
      })
  }

  /// The text for a function without a symbol.
  package static func isUnnamed(_ frame: String) -> Bool { frame.hasPrefix("(no symbol) ") }

  private static func unnamed(_ address: UInt) -> String {
    let place = CallStack.image(of: address - 1)
    let file = place?.file.split(separator: "/").last.map(String.init) ?? "unknown file"
    return "(no symbol) \(file) + 0x\(String(place?.offset ?? address, radix: 16))"
  }

  /// The functions of demangled symbols, in the same way.
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
    // A forwarder and what it forwards to have one name.
    where texts.last != function.text {
      texts.append(function.text)
    }
    // Below `main` there is the C library alone.
    while texts.count > 1, let last = texts.last, isUnnamed(last), last.contains(" libc") {
      texts.removeLast()
    }
    return texts
  }
}

/// A call stack that caused events, and how many.
package struct StackShape: Sendable, Equatable, Codable {
  /// What it caused: fetches, saves, faults, batch requests.
  package var kind: EventKind
  /// `Mood`, `Country.moods`.
  package var subject: String
  package var count: Int
  /// Functions, innermost first; an address where no name is known.
  package var frames: [String]

  package init(kind: EventKind, subject: String, count: Int, frames: [String]) {
    self.kind = kind
    self.subject = subject
    self.count = count
    self.frames = frames
  }
}

extension Recording {
  /// The call stacks of fetches, saves, merges, faults and batch requests, alike ones counted together, the
  /// most frequent first.
  ///
  /// Reads symbols: for reports, not while the measured work runs. Empty when none were recorded.
  /// - Parameter limit: the maximum number of stacks.
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
  /// Whether its stack says more than that of the event it happened inside of.
  fileprivate var hasStack: Bool {
    switch self {
    case .fetch, .save, .objectFault, .relationshipFault, .batchRequest, .batchLoad, .merge: true
    case .rowCacheHit, .rowCacheMiss, .prefetch, .statement, .transaction, .notification,
      .migrationStep, .storeOpening:
      false
    }
  }
}
