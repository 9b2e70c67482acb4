import ProfileEvents

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

  /// What stands for a function without a symbol.
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
