import Foundation

/// A folder of which a power loss leaves what was synced, and any part of the rest.
///
/// The rules are those of POSIX, and stricter than those of most file systems:
/// - A file has what was written before its last sync. Of each later write, any sectors of 512
///   bytes remain.
/// - A change of a name remains once the name's own folder was synced. Of the later changes, the
///   first ones remain.
/// - The shared memory of a WAL is gone.
struct PowerLoss {
  /// What remains of what wasn't synced.
  enum Remainder: CaseIterable, Sendable {
    case nothing
    /// Everything but the second half of the last write.
    case torn
    case anything
  }

  private enum Write {
    case bytes(offset: Int, [UInt8])
    case size(Int)
  }

  private struct File {
    var synced: [UInt8]
    var later: [Write] = []
  }

  private enum Item: Equatable {
    case file(Int)
    case folder
  }

  private enum NameChange {
    case set(String, Item)
    case remove(String)
    case rename(String, to: String)

    var paths: [String] {
      switch self {
      case .set(let path, _), .remove(let path): [path]
      case .rename(let path, let new): [path, new]
      }
    }
  }

  private static let sectorSize = 512

  private let root: String
  private var files: [File] = []
  private var numbers: [UInt64: Int] = [:]
  private var names: [String: Item] = [:]
  private var syncedNames: [String: Item] = [:]
  private var laterNames: [NameChange] = []

  /// Reads a folder, all of which is on the disk.
  init(_ folder: URL) throws {
    let root = folder.resolvingSymlinksInPath().path
    self.root = root
    let manager = FileManager.default
    for name in try manager.subpathsOfDirectory(atPath: root) {
      let path = root + "/" + name
      let attributes = try manager.attributesOfItem(atPath: path)
      if attributes[.type] as? FileAttributeType == .typeDirectory {
        names[path] = .folder
      } else {
        let inode = (attributes[.systemFileNumber] as? NSNumber)?.uint64Value ?? 0
        let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))
        names[path] = .file(add(File(synced: bytes), inode))
      }
    }
    names[root] = .folder
    syncedNames = names
  }

  private mutating func add(_ file: File, _ inode: UInt64) -> Int {
    files.append(file)
    numbers[inode] = files.count - 1
    return files.count - 1
  }

  /// Applies the next change.
  mutating func apply(_ change: RecordedFiles.Change) {
    switch change {
    case .create(let path, let inode): note(.set(path, .file(add(File(synced: []), inode))))
    case .write(let inode, let offset, let bytes):
      files[number(inode)].later.append(.bytes(offset: offset, bytes))
    case .truncate(let inode, let size): files[number(inode)].later.append(.size(size))
    case .sync(let inode, let path):
      if names[path] == .folder { syncNames(in: path) } else { syncFile(number(inode)) }
    case .rename(let path, let new): note(.rename(path, to: new))
    case .link(let path, let new):
      guard let item = names[path] else { preconditionFailure("\(path) is linked, but unknown") }
      note(.set(new, item))
    case .remove(let path): note(.remove(path))
    case .makeFolder(let path): note(.set(path, .folder))
    }
  }

  private func number(_ inode: UInt64) -> Int {
    guard let number = numbers[inode] else { preconditionFailure("a file's origin is unknown") }
    return number
  }

  private mutating func note(_ change: NameChange) {
    Self.apply(change, to: &names)
    laterNames.append(change)
  }

  private mutating func syncFile(_ number: Int) {
    for write in files[number].later { Self.apply(write, to: &files[number].synced) }
    files[number].later = []
  }

  private mutating func syncNames(in folder: String) {
    laterNames.removeAll { change in
      guard change.paths.contains(where: { Self.folder(of: $0) == folder }) else { return false }
      Self.apply(change, to: &syncedNames)
      return true
    }
  }

  private static func folder(of path: String) -> String {
    String(path.prefix(upTo: path.lastIndex(of: "/") ?? path.startIndex))
  }

  private static func apply(_ write: Write, to content: inout [UInt8]) {
    switch write {
    case .size(let size):
      content.removeLast(max(0, content.count - size))
      content += [UInt8](repeating: 0, count: size - content.count)
    case .bytes(let offset, let bytes):
      let end = offset + bytes.count
      if content.count < end { content += [UInt8](repeating: 0, count: end - content.count) }
      content.replaceSubrange(offset..<end, with: bytes)
    }
  }

  private static func apply(_ change: NameChange, to names: inout [String: Item]) {
    switch change {
    case .set(let path, let item): names[path] = item
    case .remove(let path): names[path] = nil
    case .rename(let path, let new):
      for (name, item) in names where name == path || name.hasPrefix(path + "/") {
        names[name] = nil
        names[new + name.dropFirst(path.count)] = item
      }
    }
  }
}

extension PowerLoss {
  /// Creates a folder with what a power loss leaves now.
  ///
  /// - Parameters:
  ///   - folder: The new folder.
  ///   - random: Chooses what remains, for `anything`.
  func leave(
    _ remainder: Remainder, in folder: URL, _ random: inout some RandomNumberGenerator
  ) throws {
    var names = syncedNames
    let count =
      switch remainder {
      case .nothing: 0
      case .torn: laterNames.count
      case .anything: Int.random(in: 0...laterNames.count, using: &random)
      }
    for change in laterNames.prefix(count) { Self.apply(change, to: &names) }
    let manager = FileManager.default
    for (path, item) in names.sorted(by: { $0.key < $1.key }) where !path.hasSuffix("-shm") {
      // A folder whose own name isn't on the disk has no names either.
      let isReachable = sequence(first: path) { Self.folder(of: $0) }
        .prefix { $0.count > root.count }.dropFirst().allSatisfy { names[$0] == .folder }
      guard isReachable else { continue }
      let url = folder.appendingPathComponent(String(path.dropFirst(root.count)))
      switch item {
      case .folder: try manager.createDirectory(at: url, withIntermediateDirectories: true)
      case .file(let number):
        try Data(content(of: files[number], remainder, &random)).write(to: url)
      }
    }
  }

  private func content(
    of file: File, _ remainder: Remainder, _ random: inout some RandomNumberGenerator
  ) -> [UInt8] {
    var content = file.synced
    for (index, write) in file.later.enumerated() {
      switch (remainder, write) {
      case (.nothing, _): break
      case (.torn, .bytes(let offset, let bytes)) where index == file.later.count - 1:
        Self.apply(.bytes(offset: offset, Array(bytes.prefix(bytes.count / 2))), to: &content)
      case (.torn, _): Self.apply(write, to: &content)
      case (.anything, .bytes(let offset, let bytes)):
        for start in stride(from: 0, to: bytes.count, by: Self.sectorSize)
        where Bool.random(using: &random) {
          let end = min(start + Self.sectorSize, bytes.count)
          Self.apply(.bytes(offset: offset + start, Array(bytes[start..<end])), to: &content)
        }
      case (.anything, .size):
        if Bool.random(using: &random) { Self.apply(write, to: &content) }
      }
    }
    return content
  }
}
