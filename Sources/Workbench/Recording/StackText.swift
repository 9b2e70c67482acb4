import ProfileEvents

/// Call stacks as a person reads them.
package enum StackText {
  /// The functions of a stack, innermost first, without the framework's own at its top.
  ///
  /// An address without a name is told as a number. Reads symbols.
  package static func frames(_ stack: [UInt]) -> [String] {
    let names = stack.map { address in
      // A return address may lie behind its function's last instruction.
      CallStack.symbol(at: address - 1)?.function ?? "0x" + String(address, radix: 16)
    }
    let callers = names.drop { isInside($0) }
    return Array(callers.isEmpty ? names[...] : callers)
  }

  /// Whether a function is the framework's or the profiler's own.
  private static func isInside(_ name: String) -> Bool {
    guard let module = module(of: name) else { return false }
    return ["OpenCoreData", "ProfileEvents", "SQLiteDriver"].contains(module)
  }

  /// The module of a demangled Swift function; nil for C functions and bare addresses.
  static func module(of name: String) -> String? {
    var text = name[...]
    for (head, behind) in [("generic spec", " of "), ("closure", " in "), ("implicit", " in ")]
    where text.hasPrefix(head) {
      if let range = text.firstRange(of: behind) { text = text[range.upperBound...] }
    }
    if let found = text.firstMatch(of: /\(extension in (\w+)\)/) { return String(found.1) }
    return text.firstMatch(of: /(\w+)\./).map { String($0.1) }
  }
}
