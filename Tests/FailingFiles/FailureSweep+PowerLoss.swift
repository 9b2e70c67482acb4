package import Foundation

extension FailureSweep {
  /// What a power loss left.
  package struct Loss {
    /// The folder, with what remains.
    package let folder: URL
    /// Whether the operation was complete.
    package let isComplete: Bool
    /// After which change, and what remains of what wasn't synced.
    package let description: String
  }

  /// Runs the operation once, and loses the power after each change of a file, or a sample of them.
  ///
  /// - Parameters:
  ///   - limit: The number of changes of the sample; the last one is always in it.
  ///   - random: Chooses what remains of what wasn't synced.
  ///   - check: Gets each folder, which is removed afterward.
  /// - Returns: The number of folders.
  @discardableResult
  package func losePower(
    limit: Int = FailingFiles.limit, _ random: inout some RandomNumberGenerator,
    check: (Loss) throws -> Void
  ) throws -> Int {
    let folder = try copy()
    defer { try? FileManager.default.removeItem(at: folder) }
    var loss = try PowerLoss(folder)
    // What's prepared is released later: that can change files, too.
    let (prepared, recorded) = try RecordedFiles.record(below: folder) {
      let prepared = try prepare(folder)
      try operation(prepared)
      return prepared
    }
    defer { withExtendedLifetime(prepared) {} }
    let changes = recorded.changes
    let places =
      limit == .max
      ? Set(0...changes.count)
      : Set(Self.sample(of: changes.count, limit, isShifted: false) + [changes.count])
    var count = 0
    for number in 0...changes.count {
      if number > 0 { loss.apply(changes[number - 1]) }
      guard places.contains(number) else { continue }
      for remainder in PowerLoss.Remainder.allCases {
        let rest = scratch.appendingPathComponent(UUID().uuidString, isDirectory: true)
        try loss.leave(remainder, in: rest, &random)
        let last = number > 0 ? changes[number - 1].description : "nothing"
        try check(
          Loss(
            folder: rest, isComplete: number == changes.count,
            description: "power lost after \(number), \(last); \(remainder) remains"))
        try? FileManager.default.removeItem(at: rest)
        count += 1
      }
    }
    return count
  }
}

extension RecordedFiles.Change {
  /// The kind, and the name of the file.
  fileprivate var description: String {
    switch self {
    case .create(let path, _): "create \(Self.name(path))"
    case .write(_, let offset, let bytes): "write \(bytes.count) at \(offset)"
    case .truncate(_, let size): "truncate to \(size)"
    case .sync(_, let path): "sync \(Self.name(path))"
    case .rename(let path, let new): "rename \(Self.name(path)) to \(Self.name(new))"
    case .link(_, let new): "link \(Self.name(new))"
    case .remove(let path): "remove \(Self.name(path))"
    case .makeFolder(let path): "make \(Self.name(path))"
    }
  }

  private static func name(_ path: String) -> String {
    URL(fileURLWithPath: path).lastPathComponent
  }
}
